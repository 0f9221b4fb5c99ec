"""Parts of the contract suites; import them through `store_contract`, `index_contract` and `retrieval_contract`."""
