// Run by `npm test` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { fillForm, parseForm } from "@cem/forms";
import { createPdfTarget } from "@cem/forms/pdf";
import { createWebTarget } from "@cem/forms/web";

const text = `name: club
fields:
  - { name: mail, type: email, required: true, pii: EMAIL }
  - { name: code, pattern: '\\d{3}' }
`;
const form = parseForm(text, { file: "club.yaml" });
const values = { mail: "ada@example.org", code: "123" };
const { status, values: shown } = await fillForm(form, { data: values });
assert.equal(status, "success");
assert.match(shown.mail, /^\[\[EMAIL:/);
assert.equal((await fillForm(form, { data: { code: "12" } })).status, "refused");
assert.throws(() => parseForm(text.replace("email", "emial"), { file: "club.yaml" }), {
  code: "FORM_INVALID",
  message: /^club\.yaml:3 /,
});

// The packages that fill documents and pages are optional.
writeFileSync("a.pdf", "%PDF-1.7");
const paper = parseForm(`${text}target: { type: pdf, template: a.pdf, output: b.pdf }`);
const page = parseForm(`${text}target: { type: web, url: "http://127.0.0.1:9/" }`);
const missing = { code: "PACKAGE_MISSING", message: /npm install/ };
await assert.rejects(
  fillForm(paper, { data: values, targets: { pdf: createPdfTarget({ workspace: "." }) } }),
  missing,
);
await assert.rejects(fillForm(page, { data: values, targets: { web: createWebTarget() } }), missing);
