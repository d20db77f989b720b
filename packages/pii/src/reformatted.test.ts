import { inspect } from "node:util";
import type { JsonValue } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createRedactor } from "./index.ts";

const VALUES = {
  email: "ada.byron@example.com",
  phone: "+1 (202) 555-0143",
  german: "+49 30 901820",
  ssn: "536-22-8726",
  card: "4111 1111 1111 1111",
  iban: "DE89 3704 0044 0532 0130 00",
  password: "Tr0ub4dor-3x",
};
type Name = keyof typeof VALUES;
const NUMBERS: readonly Name[] = ["phone", "german", "ssn", "card"];

const characters = (value: string, write: (code: number) => string): string =>
  Array.from(value, (character) => write(character.charCodeAt(0))).join("");
const hex = (code: number): string => code.toString(16).padStart(2, "0").toUpperCase();
const base64 = (value: string): string => Buffer.from(value).toString("base64");
const full = (value: string): string =>
  value.replace(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0));
const inQuery = (value: string): string => new URLSearchParams(partsOf(value)).toString();
const NAMED: Record<string, string> = {
  "@": "commat",
  ".": "period",
  "-": "hyphen",
  " ": "nbsp",
  "(": "lpar",
  ")": "rpar",
  "+": "plus",
};

/** Changes that honest code makes to a value. */
const FORMS: Record<string, (value: string) => JsonValue> = {
  "as it is": (value) => value,
  "separators out": (value) => value.replace(/[^A-Za-z\d@.]/g, ""),
  "other separators": (value) => value.replace(/[ ()-]+/g, "."),
  encodeURIComponent: (value) => encodeURIComponent(value),
  "all percent-encoded": (value) => characters(value, (code) => `%${hex(code)}`),
  "a mailto: link": (value) => `<a href="mailto:${value}?subject=x">write</a>`,
  "upper case": (value) => value.toUpperCase(),
  "lower case": (value) => value.toLowerCase(),
  trimmed: (value) => `  ${value}\r\n`.trim(),
  "cells of a row": (value) => value.split(/[ @-]/),
  "cells of a table": (value) => `\n${value.split(/[ @-]/).join(";")}\n`,
  "members of an object": (value) =>
    Object.fromEntries(value.split(/[ @-]/).map((part, at) => [`c${at}`, part])),
  "cells of HTML": (value) => `<tr><td>${value.split(/[ @-]/).join("</td><td>")}</td></tr>`,
  "members in YAML": (value) =>
    value
      .split(/[ @-]/)
      .map((part, at) => `c${at}: ${part}`)
      .join("\n"),
  "code points of JavaScript": (value) => characters(value, (code) => `\\u{${hex(code)}}`),
  "a list of characters": (value) => Array.from(value),
  "JSON in JSON in JSON": (value) => JSON.stringify(JSON.stringify(JSON.stringify({ a: { b: value } }))),
  "a query string": (value) => `https://example.org/?a=1&q=${encodeURIComponent(value)}&z=2`,
  "a form": (value) => new URLSearchParams({ q: value, z: "1" }).toString(),
  "named entities": (value) => value.replace(/[^A-Za-z\d]/g, (mark) => `&${NAMED[mark] ?? ""};`),
  "decimal entities": (value) => characters(value, (code) => `&#${code};`),
  "decimal entities without a semicolon": (value) => value.replaceAll("@", "&#64"),
  "comments within": (value) => value.replace(/^.{4}/, "$&<!-- a note -->"),
  "hexadecimal entities": (value) => characters(value, (code) => `&#x${hex(code)};`),
  "escapes of JavaScript": (value) => characters(value, (code) => `\\u00${hex(code)}`),
  "quoted-printable": (value) =>
    `Dear =\r\nAda, ${characters(value, (code) => (code > 64 ? String.fromCharCode(code) : `=${hex(code)}`))}`,
  base64,
  "base64 of a text": (value) => `body: ${base64(`Grüße, write to ${value} today`)}.`,
  "base64 of a text that is not English": (value) => base64(`Здравствуйте, пишите на ${value}, пожалуйста`),
  ...Object.fromEntries(
    Array.from("🎉•\t\r\u001B", (sign) => [
      `base64 that begins with ${sign.codePointAt(0)}`,
      (value: string) => base64(`${sign}${value}`),
    ]),
  ),
  "full-width in base64": (value) => base64(full(value)),
  "quoted-printable with breaks within characters": (value) =>
    [...Buffer.from(full(value))].map((octet) => `=${hex(octet)}`).join("=\r\n"),
  "base64 in lines": (value) =>
    base64(`${"A line of text. ".repeat(7)}\n${value}\n${"More text. ".repeat(9)}`).replace(
      /.{76}/g,
      "$&\r\n",
    ),
  base64url: (value) => Buffer.from(`>>>??? ${value}`).toString("base64url"),
  "base64 of base64 of JSON": (value) => base64(base64(JSON.stringify({ value }))),
  "base64 before a line": (value) => `Body:\n${base64(`Write to ${value}.`.padEnd(48))}\nRegards and thanks`,
  "lines of base64url": (value) =>
    [1, 2].map((at) => Buffer.from(`${at}: ${value}`.padEnd(49)).toString("base64url")).join("\n"),
  "the state of a link": (value) =>
    `https://example.org/back?state=${Buffer.from(JSON.stringify({ value })).toString("base64url")}&x=1`,
  "base64 in a path": (value) => `https://example.org/customer-notifications/s/${base64(`Dear ${value}?`)}`,
  "base64url after a name": (value) => `cursor_v1-${Buffer.from(`id:${value}`).toString("base64url")}`,
  "an aligned table": (value) =>
    `| ${value
      .split(/[ @-]/)
      .map((part) => part.padEnd(40))
      .join(" | ")} |`,
  "columns of the console": (value) => `│ '${value.split(/[ @-]/).join("'                  │ '")}' │`,
  "lines with an indent": (value) => value.replace(/.{6}/g, "$&\n        "),
  "strings joined in code": (value) => `"${value.slice(0, 6)}" +\n      "${value.slice(6)}"`,
  "lines of HTML": (value) => value.split(/[ @-]/).join("<br />\n"),
  "marked in HTML": (value) => `<p>Of <mark class="hit">${value.slice(0, 4)}</mark>${value.slice(4)}</p>`,
  "breaks in words": (value) => value.replace(/.{3}/g, "$&<wbr>"),
  "soft hyphens": (value) => value.replace(/.{3}/g, "$&&shy;"),
  "colours of a terminal": (value) => `\u001B[1;31m${value.slice(0, 4)}\u001B[39m${value.slice(4)}\u001B[0m`,
  "parts in a query": (value) => `https://example.org/?${inQuery(value)}`,
  "parts in a query in HTML": (value) => inQuery(value).replaceAll("&", "&amp;"),
  "parts in a cookie": (value) => inQuery(value).replaceAll("&", "; "),
  "members in lines of settings": (value) => inQuery(value).replaceAll("&", "\n"),
  "full-width": full,
  "Arabic digits": (value) => value.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit))),
  "digits of Devanagari": (value) =>
    value.replace(/\d/g, (digit) => String.fromCharCode(0x966 + Number(digit))),
};
function partsOf(value: string): Record<string, string> {
  return Object.fromEntries(value.split(/(?<=[ @-])/).map((part, at) => [`c${at}`, part]));
}
const PRINTED: typeof FORMS = {
  "members in JSON": (value) => `crm.find(${JSON.stringify(partsOf(value))}) → failed`,
  "members in JSON in JSON": (value) => JSON.stringify({ text: JSON.stringify(partsOf(value)) }),
  "members in lines": (value) => JSON.stringify(partsOf(value), undefined, 2),
  "members within another": (value) => JSON.stringify(partsOf(value)).replaceAll(/,"c/g, ',"x":{"c'),
  "members as the console prints them": (value) => inspect(partsOf(value)),
  "items in lines": (value) => JSON.stringify(Object.values(partsOf(value)), undefined, 2),
};
Object.assign(FORMS, PRINTED);
const DIGIT_FORMS: typeof FORMS = {
  "digits only": (value) => value.replace(/\D/g, ""),
  "a number": (value) => Number(value.replace(/\D/g, "")),
  "zeros before": (value) => value.replace(/\D/g, "").padStart(18, "0"),
  "a number as Arabic writes it": (value) =>
    new Intl.NumberFormat("ar-EG").format(Number(value.replace(/\D/g, ""))),
  "a wa.me link": (value) => `https://wa.me/${value.replace(/\D/g, "")}`,
  "digits joined to letters": (value) => `ref${value.replace(/\D/g, "")}EUR`,
  "a number with a sign": (value) => -Number(value.replace(/\D/g, "")),
  "a number with a fraction": (value) => Number(`${value.replace(/\D/g, "")}.5`),
  "digits in a sentence": (value) => `Ask ${value.replace(/\D/g, "").replace(/(.{4})(?=.)/g, "$1-")} for it`,
};
const cases = [
  ["iban", "digits only", (value: string) => value.replace(/\D/g, "")] as const,
  ...Object.entries(FORMS).flatMap(([form, write]) =>
    Object.keys(VALUES).map((name) => [name as Name, form, write] as const),
  ),
  ...Object.entries(DIGIT_FORMS).flatMap(([form, write]) =>
    NUMBERS.map((name) => [name, form, write] as const),
  ),
];
const crm = { server: "crm", tool: "get" };
const mail = { server: "mail", tool: "send" };
const rest = Array.from({ length: 3 }, (_, id) => ({
  id,
  name: `Customer ${id}`,
  at: "2026-02-03T10:11:12Z",
}));

describe("a value that a tool returned and code wrote in another way", () => {
  it.each(cases)("%s, %s", async (name, _form, write) => {
    const written = write(VALUES[name]);
    for (const guest of ["values", "tokens"] as const) {
      const redactor = createRedactor({ guest });
      const result = [...rest, { [name]: VALUES[name] }];
      if (guest === "values") redactor.observe(result, crm);
      else redactor.tokenize(result, crm);
      const shown = redactor.tokenize({ note: written }, {});
      expect(shown).not.toEqual({ note: written });
      // Code gets back the text that it wrote.
      expect(await redactor.detokenize(shown, mail)).toEqual({ note: written });
    }
  });

  it.each(cases)("goes nowhere that a rule forbids: %s, %s", async (name, _form, write) => {
    const redactor = createRedactor({ rules: [{ from: "crm", to: "mail", action: "deny" }] });
    redactor.observe([...rest, { [name]: VALUES[name] }], crm);
    const note = write(VALUES[name]) as string;
    await expect(redactor.detokenize({ note }, mail)).rejects.toMatchObject({ code: "FLOW_DENIED" });
    expect(await redactor.detokenize({ note }, { ...crm, tool: "put" })).toEqual({ note });
    const shown = redactor.tokenize({ note }, {});
    await expect(redactor.detokenize(shown, mail)).rejects.toMatchObject({ code: "FLOW_DENIED" });
  });

  const rules = [{ from: "crm", to: "mail", action: "deny" as const }];
  it.each([
    ["iban", "GB82 WEST 1234 5698 7654 32", "8212345698765432"],
    ["iban", "GB82 WEST 1234 5698 7654 32", 8_212_345_698_765_432],
    ["phone", "(415) 682-3371 ext. 12", "415682337112"],
    ["phone", "+1 415-682-3371 x12", "https://wa.me/1415682337112"],
    ["phone", "+1 415-682-3371 x12", 1_415_682_337_112],
    ["email", "ada.lovelace@example-mail.com", "Map(2) { 'a' => 'ada.lovelace', 'b' => 'example-mail.com' }"],
    ["iban", "GB82 WEST 1234 5698 7654 32", "IBANGB82WEST12345698765432"],
    ["vat_number", "DE811907980", "811907980"],
    ["passport", "AB1234567", 1_234_567],
    ["driver_license", "D1234567", "no:1234567,42"],
    ["dni", "12345678Z", "x_12345678."],
    ["password", "correct horse battery", "q=correct+horse+battery&z=1"],
    ["password", "correct horse battery", "correct <b>horse</b> battery"],
    ["otp", "482193", 482_193],
  ])("is found by its digits, or exactly: %s %j as %j", async (name, value, note) => {
    const redactor = createRedactor({ rules });
    redactor.observe([...rest, { [name]: value }], crm);
    await expect(redactor.detokenize({ note }, mail)).rejects.toMatchObject({ code: "FLOW_DENIED" });
    const shown = redactor.tokenize({ note }, {});
    expect(shown).not.toEqual({ note });
    expect(await redactor.detokenize(shown, { ...crm, tool: "put" })).toEqual({ note });
    // Code that sees tokens only is not told whether it guessed right.
    expect(redactor.tokenize({ note }, { isOfCode: true }).note).not.toBe(shown.note);
  });

  it("is told from a later session of the workspace, too", async () => {
    const redactor = createRedactor({ rules, workspaceOf: () => "a" });
    redactor.observe({ phone: VALUES.phone, password: VALUES.password }, { ...crm, session: "1" });
    for (const note of ["https://wa.me/12025550143", `is: ${base64(VALUES.password)}`, ["tr0ub4dor", "3X"]])
      await expect(redactor.detokenize({ note }, { ...mail, session: "2" })).rejects.toMatchObject({
        code: "FLOW_DENIED",
      });
  });

  it.each([
    ["reversed", (value: string) => Array.from(value).toReversed().join("")],
    ["its end alone", (value: string) => value.slice(-4)],
    ["in hexadecimal", (value: string) => Buffer.from(value).toString("hex")],
    [
      "added to",
      (value: string) =>
        Array.from(value)
          .map((one) => String.fromCharCode(one.charCodeAt(0) + 1))
          .join(""),
    ],
  ])("is not found %s, as the documentation says", (_form, write) => {
    const redactor = createRedactor();
    redactor.observe([VALUES], crm);
    const note = write(VALUES.phone);
    expect(redactor.tokenize({ note }, {})).toEqual({ note });
  });

  it.each(["", "-", "+", ".", "_", "x", "7"])("is found where %j joins it to the next", (between) => {
    for (const [name, value] of Object.entries(VALUES)) {
      const redactor = createRedactor();
      redactor.observe({ [name]: value }, crm);
      const shown = redactor.tokenize(
        [`${value}${between}${value}`, `${value}${between}${value}${between}`],
        {},
      );
      expect(JSON.stringify(shown)).not.toContain(value);
    }
  });

  it("is not seen in other numbers and words", () => {
    const redactor = createRedactor();
    redactor.observe([{ ...VALUES, name: "Customer 1", passport: "AB1234567", otp: "482193" }], crm);
    const other = [
      `00005362287261 70000536228726 ${"0".repeat(40)}536228726`,
      "５３６２２８７２６１ ٥٣٦٢٢٨٧٢٦١ and 202-555-00007",
      "12345678, 91234567, 112-1234567-42, 123 4567, v1.1234567, X1234567, 1_234_567",
      `536${" ".repeat(300)}228726`,
      "<td>536</td>\n<td>22</td><td>87261</td>, a=536&b=22&c=87261",
      { count: 482_194, less: 48_219, more: 1_482_193 },
      "20255501431234",
      "99936228726001",
      "build 53622 8727",
      "example.com",
      ["ada", "byron"],
      { id: 536_228_727, at: "2026-02-03T10:11:12Z", list: ["Tr0ub", "4dor"] },
      "SGVsbG8gd29ybGQsIG5vYm9keSBpcyBoZXJl",
    ];
    expect(redactor.tokenize(other, {})).toEqual(other);
  });
});
