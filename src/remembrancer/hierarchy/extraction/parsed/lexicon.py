"""Words by what they do in a sentence. Closed classes of English, kept as paragraphs; all in lower case.

Verbs, nouns and adverbs are lemmas. A class is meant to hold for any text: nothing here names somebody.
"""

from __future__ import annotations


def _words(paragraph: str) -> frozenset[str]:
    return frozenset(paragraph.split())


TITLES = _words("mr mrs ms miss dr prof professor sir dame lord lady rev reverend fr father sister st")
"""Forms of address that stand before a person's name."""

ROLES = _words(
    """
    accountant actor actress adviser advisor agent ambassador analyst architect artist assistant athlete attorney
    author baker banker boss broker captain ceo cfo chair chairman chairperson chairwoman chancellor chef chief
    co-author co-chair co-ceo co-founder co-owner coach cofounder colleague columnist commissioner composer consultant
    contractor cook coordinator counsel creator critic curator cto dean defender dentist deputy designer developer
    director doctor economist editor employee engineer entrepreneur executive founder forward friend goalkeeper
    governor guitarist head host inventor investor journalist judge lawyer leader lecturer librarian manager mayor
    mechanic member mentor midfielder minister musician neighbor neighbour novelist nurse officer owner painter
    partner pharmacist photographer physician physicist pianist pilot pitcher player poet president principal producer
    professor programmer quarterback referee reporter representative researcher roommate scientist sculptor secretary
    senator singer spokesman spokesperson spokeswoman steward striker student superintendent supervisor surgeon
    teacher teammate technician therapist trainer treasurer trustee tutor vet veterinarian vice-president violinist
    winger writer
    aunt boyfriend brother cousin dad daughter father fiance fiancee girlfriend grandfather grandmother grandson
    granddaughter husband mom mother mum nephew niece parent sister son spouse stepfather stepmother uncle wife
    """
)
"""What a person is to an organization or to somebody else."""

ORGANIZATION_NOUNS = _words(
    """
    agency airline association authority automaker bakery band bank brewery broadcaster brewer brand business carmaker
    carrier chain
    charity clinic club college company competitor conglomerate consortium cooperative corporation developer
    distributor employer firm foundation gallery government hospital hotel insurer institute institution lab
    laboratory label league library lender maker manufacturer ministry museum newspaper nonprofit operator
    organisation organization parent producer publisher restaurant retailer rival school shop start-up startup store
    studio subsidiary supplier supermarket team union university utility venture vendor winery
    """
)
"""What an organization may be called when it is not named."""

ORGANIZATION_WORDS = _words(
    """
    ab ag agency airlines airways analytics associates association authority bank biosciences bureau capital center
    centre clinic club co college commission committee company consortium consulting corp corporation council
    department dynamics energy enterprises fc foods foundation gmbh grocers group holdings hospital inc industries
    institute insurance international lab laboratories labs llc llp logistics ltd magazine medical ministry motors
    museum networks office organization partners pharma pharmaceuticals plc press publishing railway records robotics
    sa sc school services society software solutions studio studios systems team technologies therapeutics times union
    united university ventures wanderers works afc
    """
)
"""Words of names that make them an organization's."""

THING_WORDS = _words(
    """
    act algorithm api app application award bridge campaign conference contract database day edition engine festival
    framework initiative language law library module paper plan platform prize program programme project protocol
    report review river road route sdk server service standard street summit survey toolkit treaty trophy trust tower
    """
)
"""Words of names that make them neither a person's nor an organization's."""

CATEGORIES = _words(
    """
    album app application book brand city cluster company database device engine film firm framework game language
    library magazine model module movie novel package platform plugin product program programme project protocol
    repository script server service site song startup system tool town village website
    """
)
"""Nouns behind a name that only say what it is: "the Kafka cluster" is Kafka."""

GROUPS = _words("board committee council department division faculty group office staff team unit")
"""Parts of an organization that stand for it when they have no name: "the board of Acme"."""

ORGANIZATION_PARTS = _words(
    """
    board ceo cfo chair chairman chief co-founder cofounder cto customer department director division employee
    executive founder headquarters investor office president revenue share shareholder spokesman spokesperson
    spokeswoman staff stock subsidiary
    """
)
"""What an organization has, and a person hardly: whose it is, is one."""

JOINED = _words("join rejoin found cofound co-found acquire buy merge fund bankroll sue")
"""Verbs whose object is an organization, when it is named and nothing else is known of it."""

JOINED_WITH = {"work": _words("at for"), "study": _words("at"), "intern": _words("at"), "invest": _words("in")}
"""Prepositions whose object is an organization, by verb."""

TRANSFERS = _words("hire hiring recruit recruitment sign signing transfer")
"""Verbs and nouns by which a person comes "from" an organization."""

COMPANY_ROLES = _words("ceo cfo cto coo chairman chairwoman co-founder cofounder employee founder shareholder")
"""Roles that one has in an organization, not in a place."""

HUMAN_SUBJECTS = _words(
    "adopt apologise apologize befriend born dance graduate hike join laugh live love marry play resign retire reside"
    " sing sleep smile study swim teach volunteer work"
)
"""Verbs whose subject is a person, when it is named and nothing else is known of it."""

AUTHORED = _words("author coach compose design direct draw invent lead narrate paint photograph sculpt sing write")
"""Verbs whose agent is a person, likewise: "written by"."""

USED = _words("configure debug deploy download install run uninstall upgrade use")
"""Verbs whose object is a thing, likewise."""

PLACED = _words("arrive bear born drive fly live move relocate reside settle stay travel vacation")
"""Verbs that lead to a place by "in", "to" or "from"."""

HUMAN_OBJECTS = _words("marry appoint elect hire interview befriend nickname mentor congratulate promote")
"""Verbs whose object is a person, when it is named and nothing else is known of it."""

SPEECH = _words(
    """
    accuse acknowledge add admit allege announce answer argue ask assert assume believe blame boast call cite claim
    comment complain concede conclude confirm congratulate contend criticise criticize declare describe doubt estimate
    explain feel guess hear hint imagine imply inform insist know maintain mean mention note observe praise predict
    promise propose quip quote reassure recall recount regard remark remember reply report reveal say see seem state
    stress suggest suppose tell thank think understand warn wish wonder
    """
)
"""Verbs of saying and thinking: what they govern may state a relation, they themselves do not."""

AMBIGUOUS_SPEECH = _words("maintain report call add know")
"""Those of them that state a relation when their object or preposition is not a clause: "reports to Ada"."""

AFFECTS = _words(
    """
    alarm amaze amuse annoy astonish baffle bemuse bore bother confuse delight disappoint distract embarrass
    excite fascinate frighten frustrate impress irritate offend please puzzle reassure scare shock startle surprise
    tire upset worry
    """
)
"""Verbs that tell how something made somebody feel for a while: nothing that relates the two."""

REFUSALS = _words("decline deny disapprove disavow disown lack refuse reject renounce")
"""Verbs whose object is not had, taken or done."""

DOUBTING = _words(
    """
    agree aim anticipate aspire attempt avoid cancel cease consider contemplate decide decline deny desire discuss
    doubt dream expect explore fail fear forget hesitate hope intend like negotiate neglect offer oppose plan pledge
    ponder postpone prefer pretend promise propose quit rule_out refuse reject rumor rumour seek speculate stop threaten
    try want wish wonder
    """
)
"""Verbs whose complement did not, or need not, happen."""

DOUBTFUL = _words(
    """
    allegation allegations assumption chance claim denial false hope hypothetical idea impossible improbable incorrect
    likely mistaken myth offer plan possibility possible potential proposal prospect rumor rumour speculation
    suggestion suspicion threat unclear unconfirmed unlikely untrue wrong
    """
)
"""Nouns and adjectives whose clause need not be so: "rumours that", "it is false that"."""

DENIALS = _words("not n't n’t never no neither nor hardly scarcely barely rarely seldom without")
UNCERTAIN = _words("may might could would should can must will shall 'll ’ll 'd ’d wo ca")
"""Auxiliaries under which nothing is told to be so already."""

CONDITIONS = _words("if unless whether until once lest")
HEDGES = _words("allegedly reportedly supposedly possibly perhaps maybe probably almost nearly soon")
PAST = _words("formerly previously once ex former erstwhile")

INSTEAD = _words("against from instead of than without")
"""Prepositions before a verb that did not, or need not, happen: "kept from joining", "instead of joining"."""

TIMES = _words("after before during since until till despite because throughout amid like unlike than except besides")
"""Prepositions that tell when, why or against what: no relation to the name behind them."""

EVENTS = {
    "acquisition": "acquire",
    "appointment": "appoint",
    "arrival": "arrive",
    "creation": "create",
    "founding": "found",
    "hire": "hire",
    "hiring": "hire",
    "launch": "launch",
    "opening": "open",
    "promotion": "promote",
    "publication": "publish",
    "purchase": "purchase",
    "recruitment": "recruit",
    "sale": "sell",
    "signing": "sign",
    "sponsorship": "sponsor",
    "takeover": "acquire",
}
"""Nouns that tell of an event, with its verb: "the acquisition of ..."."""

MUTUAL = {
    "alliance": "ally_with",
    "collaboration": "collaborate_with",
    "merger": "merge_with",
    "partnership": "partner_with",
}
"""Nouns of events between equals: "the merger of Acme and Initech", "its merger with Initech"."""

ANNOUNCING = _words("announce celebrate complete confirm finalise finalize make oversee secure")
"""Verbs whose subject did what their object, such a noun, tells of."""

SPELLINGS = {"bear": "born", "co": "cofound"}
"""Lemmas under which a relation would not be recognised, with the word to use."""

FIRST_PERSON = _words("i me my mine myself")
HE_OR_SHE = _words("he she him her his hers himself herself")
IT = _words("it its itself")
RELATIVE = _words("who whom whose which that")
DEFINITE = _words("the this that")

LOCATION = "location"
LABELS = {
    "PERSON": "person",
    "PER": "person",
    "ORG": "organization",
    "GPE": LOCATION,
    "LOC": LOCATION,
    "FAC": LOCATION,
    "PRODUCT": "concept",
    "EVENT": "concept",
    "WORK_OF_ART": "concept",
    "LAW": "concept",
    "LANGUAGE": "concept",
    "NORP": "concept",
    "MISC": "concept",
}
"""Types of entities by the label that a pipeline gives a name."""

NUMBERS = frozenset("DATE TIME PERCENT MONEY QUANTITY ORDINAL CARDINAL".split())  # noqa: SIM905 - as in LABELS
"""Labels of what is no name."""
