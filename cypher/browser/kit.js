// Puts style, saved queries and guide into Neo4j Browser's local storage and goes on to Browser.
//
// The keys and shapes are those of Browser 5.24. Only what is ours is replaced: the rules of our labels, and the saved
// queries with our ids. A rule that the user has changed is replaced only when the user agrees; who has declined is
// asked again when there is another one.
"use strict";

const FOLDER = "remembrancer";
const LAST_STYLE = "remembrancer.style"; // the rules as they were written the last time
const DECLINED = "remembrancer.declined"; // those of our rules that the user did not want

function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch (error) {
    return null; // not JSON: nothing that Browser would read either
  }
}

function write(key, value) {
  localStorage.setItem(key, JSON.stringify(value));
}

// "node.Fact { color: #fff; caption: "{content}"; }" becomes {"node.Fact": {color: "#fff", caption: "{content}"}}.
// A caption has braces of its own, so a rule ends with a brace on a line of its own.
function parseStyle(text) {
  const rules = {};
  for (const [, selector, body] of text.matchAll(/^(\S+) \{\n([^]*?)^\}/gm)) {
    rules[selector] = {};
    for (const [, name, value] of body.matchAll(/^\s*([a-z-]+):\s*"?([^"]*?)"?;$/gm)) {
      rules[selector][name] = value;
    }
  }
  return rules;
}

function same(left, right) {
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].every((name) => left[name] === right[name]);
}

function isGeneral(selector) {
  return selector === "node" || selector === "relationship";
}

// Our selectors for which Browser has a rule that is neither ours of today nor ours of the last time.
function changedByUser(ours, current) {
  const last = read(LAST_STYLE) || {};
  return Object.keys(ours).filter(
    (selector) =>
      !isGeneral(selector) &&
      current[selector] &&
      !same(current[selector], ours[selector]) &&
      !(last[selector] && same(current[selector], last[selector])),
  );
}

// Those of the rules changed by the user that stay as they are.
async function rulesToKeep(ours, current) {
  const changed = changedByUser(ours, current);
  const declined = read(DECLINED) || {};
  const open = changed.filter((selector) => !(declined[selector] && same(declined[selector], ours[selector])));
  if (open.length > 0 && (await ask(open))) {
    return changed.filter((selector) => !open.includes(selector));
  }
  write(DECLINED, Object.fromEntries(changed.map((selector) => [selector, ours[selector]])));
  return changed;
}

function putStyle(ours, current, kept) {
  const style = { ...current };
  for (const [selector, rule] of Object.entries(ours)) {
    if (!style[selector] || !(isGeneral(selector) || kept.includes(selector))) {
      style[selector] = rule;
    }
  }
  write("neo4j.grass", style);
  write(LAST_STYLE, ours);
}

function putQueries(queries) {
  const documents = (read("neo4j.documents") || []).filter((entry) => !String(entry.id).startsWith(`${FOLDER}-`));
  const ours = queries.map((content, index) => ({
    id: `${FOLDER}-${index + 1}`,
    name: content.split("\n")[0].replace(/^\/\/\s*/, ""),
    content,
    folder: FOLDER,
  }));
  write("neo4j.documents", [...documents, ...ours]);
  const folders = (read("neo4j.folders") || []).filter((entry) => entry.id !== FOLDER);
  write("neo4j.folders", [...folders, { id: FOLDER, name: FOLDER }]);
}

function ask(selectors) {
  document.getElementById("selectors").textContent = selectors.map((name) => name.split(".")[1]).join(", ");
  document.getElementById("progress").hidden = true;
  document.getElementById("question").hidden = false;
  return new Promise((resolve) => {
    document.getElementById("replace").addEventListener("click", () => resolve(true));
    document.getElementById("keep").addEventListener("click", () => resolve(false));
  });
}

async function fetchOurs(address, headers) {
  const response = await fetch(address, { headers, cache: "no-cache" });
  if (!response.ok) {
    throw new Error(`${address} answered ${response.status}`);
  }
  return response;
}

async function open() {
  const style = parseStyle(await (await fetchOurs("style.grass")).text());
  putQueries(await (await fetchOurs("queries.json")).json());
  const current = read("neo4j.grass") || {};
  putStyle(style, current, await rulesToKeep(style, current));
  const discovery = await (await fetchOurs("/", { Accept: "application/json" })).json();
  const bolt = new URL(discovery.bolt_direct.replace(/^bolt:/, "http:"));
  const target = new URL("../", location.href);
  target.searchParams.set("connectURL", `neo4j://neo4j@localhost:${bolt.port}`);
  target.searchParams.set("cmd", "guide");
  target.searchParams.set("arg", new URL("guide.html", location.href).href);
  location.replace(target.href);
}

open().catch((error) => {
  document.getElementById("progress").textContent = `This did not work: ${error.message}`;
});
