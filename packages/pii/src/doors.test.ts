import type { Elicit, JsonObject, Sample, ToolInvoker } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createRedactor, redactCalls, redactKept, redactSamples } from "./index.ts";
import type { FlowRule } from "./index.ts";

const EMAIL = "ada@example.com";
const IBAN = "DE89370400440532013000";
const crm = { server: "crm", tool: "get" };
const rules = [{ from: "crm", to: "mail", action: "deny" as const }];
const mail = { server: "mail", tool: "send" };
const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64");
const DENIED = { code: "FLOW_DENIED", details: { from: "crm.get", to: "mail.send" } };

/** UTF-16 with a byte order mark. */
function utf16(text: string, isBig = false): Buffer {
  const bytes = Buffer.from(`\uFEFF${text}`, "utf16le");
  return isBig ? bytes.swap16() : bytes;
}

describe("text in base64", () => {
  it.each([
    ["a file of no known type", Buffer.from(`id;mail\n1;${EMAIL}\n`), "application/octet-stream"],
    ["JSON, by its keys", Buffer.from(JSON.stringify([{ password: "letmein" }])), undefined],
    ["lines of JSON", Buffer.from(`{"mail":"${EMAIL}"}\n{"mail":"${EMAIL}"}\n`), "application/x-ndjson"],
    ["a table, by its heading", Buffer.from('id;Passwort\r\n1;"letmein"\r\n'), "text/csv"],
    [
      "a part of a mail in quoted-printable",
      Buffer.from(
        "Content-Transfer-Encoding: quoted-printable\r\n\r\nDear M=C3=BCller, ada=\r\n=40example.com",
      ),
      "message/rfc822",
    ],
    [
      "a part of a mail in base64",
      Buffer.from(
        `Content-Transfer-Encoding: base64\r\n\r\n${base64(`${"Dear Müller, how are you? ".repeat(9)}${EMAIL}\r\n`.repeat(2)).replace(/.{76}/g, "$&\r\n")}\r\n--x\r\n`,
      ),
      "message/rfc822",
    ],
    ["Latin-1", Buffer.from(`Müller;${EMAIL}`, "latin1"), "text/csv"],
    ["UTF-16", utf16(`Müller;${EMAIL}`), "text/csv"],
    ["UTF-16, big end first", utf16(`Müller;${EMAIL}`, true), "text/csv"],
    ["texts between NULs", Buffer.from(`USER=ada\0MAIL=${EMAIL}\0SSN=536-22-8726\0`), "text/plain"],
    ["text with a stray control character", Buffer.from(`${"note ".repeat(20)}\0${EMAIL}`), "text/plain"],
  ])("has tokens: %s", async (_what, bytes, mimeType) => {
    const redactor = createRedactor();
    const resource = { uri: "doc://1", blob: base64(bytes), ...(mimeType === undefined ? {} : { mimeType }) };
    const shown = redactor.tokenize({ contents: [resource] }, { ...crm });
    const blob = shown.contents[0]?.blob ?? "";
    const encoding = bytes[0] === 0xff || bytes[0] === 0xfe ? "utf16le" : "latin1";
    const seen = Buffer.from(blob, "base64");
    const text = (bytes[0] === 0xfe ? seen.swap16() : seen).toString(encoding);
    expect(text).toMatch(/\[\[(?:EMAIL|SECRET):[a-z2-7]{16}\]\]/);
    expect(text).not.toMatch(/ada@example\.com|letmein/);
    expect(await redactor.detokenize(shown, mail)).toEqual({ contents: [resource] });
  });

  it.each([true, false])("has tokens: UTF-16 without a byte order mark, low byte first: %s", (isLittle) => {
    const bytes = utf16(`Müller, Łódź;${EMAIL}`, !isLittle).subarray(2);
    const shown = createRedactor().tokenize({ uri: "doc://1", blob: base64(bytes) }, crm);
    const seen = Buffer.from(shown.blob, "base64");
    expect((isLittle ? seen : seen.swap16()).toString("utf16le")).toMatch(
      /^Müller, Łódź;\[\[EMAIL:[a-z2-7]{16}\]\]$/,
    );
  });

  it.each([
    ["an odd last byte", Buffer.from([65])],
    ["a lone surrogate", Buffer.from([0, 0xd8, 65, 0])],
  ])("comes back exactly: UTF-16 with %s", async (_what, end) => {
    const redactor = createRedactor();
    for (const isBig of [false, true])
      for (const start of [0, 2]) {
        const resource = {
          uri: "doc://1",
          blob: base64(Buffer.concat([utf16(`Dear ${EMAIL}, hello`, isBig).subarray(start), end])),
        };
        const shown = redactor.tokenize(resource, crm);
        expect(shown).not.toEqual(resource);
        expect(await redactor.detokenize(shown, mail)).toEqual(resource);
      }
  });

  it.each([
    ["16 bits", Uint16Array.from({ length: 4_000 }, (_, at) => 32 + ((at * 73) % 200))],
    ["32 bits", Uint32Array.from({ length: 4_000 }, (_, at) => 32 + ((at * 73) % 90))],
  ])("stays where it holds numbers of %s", (_what, { buffer }) => {
    const wide = Buffer.from(EMAIL, "utf16le");
    const resource = { uri: "doc://1", blob: base64(Buffer.concat([new Uint8Array(buffer), wide])) };
    expect(createRedactor().tokenize(resource, crm)).toEqual(resource);
  });

  it("stays where it holds bytes or nothing to find, and is looked at as a value where it may be one", () => {
    const redactor = createRedactor();
    const image = {
      type: "image",
      mimeType: "image/png",
      data: base64(Buffer.from(Array.from({ length: 900 }, (_, n) => (n * 7) % 256))),
    };
    const plain = { uri: "doc://1", blob: base64("nobody is in here") };
    expect(redactor.tokenize([image, plain], {})).toEqual([image, plain]);
    const key = { mimeType: "text/plain", data: "AKIAIOSFODNN7EXAMPLE" };
    expect(JSON.stringify(redactor.tokenize(key, {}))).not.toContain("AKIA");
    // Without a type beside it, `data` is data: a text as any other.
    const data = { data: base64(EMAIL), note: base64("nobody is in here") };
    expect(redactor.tokenize(data, {})).toEqual({ ...data, data: expect.stringMatching(/^\[\[EMAIL:/) });
  });

  it("is known to come from its server, and is found in arguments", async () => {
    const redactor = createRedactor({ rules });
    redactor.observe({ type: "resource", uri: "doc://1", blob: base64(`x;${EMAIL}`) }, crm);
    await expect(redactor.detokenize({ to: EMAIL }, mail)).rejects.toMatchObject(DENIED);
    const file = { mimeType: "text/plain", data: base64(`Dear ${EMAIL}`) };
    await expect(redactor.detokenize({ file }, mail)).rejects.toMatchObject(DENIED);
  });
});

describe("tokens in URIs", () => {
  it("may stand in a host, in a path and in a query, and mean the same URI", async () => {
    const redactor = createRedactor();
    const uris = [`people://${EMAIL}/x`, `doc://a/${EMAIL}`, `doc://a?of=${EMAIL}&iban=${IBAN}`];
    for (const uri of uris) {
      const shown = redactor.tokenize({ uri }, { server: "crm" }).uri;
      expect(shown).not.toContain(EMAIL);
      expect(URL.canParse(shown)).toBe(true);
      expect(await redactor.detokenize({ uri: shown }, crm)).toEqual({ uri });
    }
  });
});

describe("redactSamples", () => {
  it("gives the model tokens, and the server the values that it gave itself", async () => {
    const redactor = createRedactor();
    const foreign = redactor.tokenize(IBAN, { server: "bank" });
    const unknown = "[[EMAIL:aaaaaaaaaaaaaaaa]]";
    let asked: JsonObject = {};
    const sample: Sample = async ({ params }) => {
      asked = params;
      return { text: `${params["text"] as string}, ${foreign}, ${unknown}` };
    };
    const request = {
      server: "crm",
      params: { text: `Write to ${EMAIL}` },
      signal: new AbortController().signal,
    };
    const answer = await redactSamples(sample, redactor, undefined)(request);
    expect(asked["text"]).toMatch(/^Write to \[\[EMAIL:[a-z2-7]{16}\]\]$/);
    expect(answer).toEqual({ text: `Write to ${EMAIL}, ${foreign}, ${unknown}` });
  });
});

describe("redactKept", () => {
  const people = Array.from({ length: 1_234 }, (_, at) => ({
    email: `p${at}@example.com`,
    password: `secret${at}`,
  }));
  const forms: [form: string, text: string][] = [
    ["a list", JSON.stringify(people)],
    ["a list in an object in an object", JSON.stringify({ data: { total: 2, people, by: "x" } })],
    ["an object of many members", JSON.stringify(Object.fromEntries(people.map((one) => [one.email, one])))],
    ["lines of JSON", people.map((one) => JSON.stringify(one)).join("\n")],
    [
      "a table with a heading",
      `email,note,password\n${people.map((one) => `${one.email},"${"-".repeat(300)}, a",${one.password}`).join("\n")}`,
    ],
    ["a table", people.map((one) => `${one.email};password=${one.password};${"-".repeat(300)}`).join("\n")],
  ];

  it.each(forms)("knows where all of %s came from, and keeps it", async (_form, text) => {
    const redactor = createRedactor({ rules });
    const bytes = Buffer.from(text);
    expect(await redactKept(bytes, redactor, crm)).toBe(bytes);
    for (const at of [0, 499, 500, 1_233]) {
      await expect(redactor.detokenize(`p${at}@example.com`, mail)).rejects.toMatchObject(DENIED);
      await expect(redactor.detokenize(`secret${at}`, mail)).rejects.toMatchObject(DENIED);
    }
  });

  it.each(forms)("puts tokens into all of %s where code sees tokens only", async (_form, text) => {
    const redactor = createRedactor({ guest: "tokens" });
    const shown = Buffer.from(await redactKept(Buffer.from(text), redactor, crm)).toString();
    expect(shown).not.toMatch(/@example\.com|"secret\d|[=,]secret/);
    expect(await redactor.detokenize(shown, mail)).toBe(text);
  });

  it("has the same tokens for the same file again, and others once the session has ended or in another one", async () => {
    const redactor = createRedactor({ guest: "tokens" });
    const bytes = Buffer.from(JSON.stringify(Array.from({ length: 6 }, () => people)));
    const keep = async (session: string): Promise<string> =>
      Buffer.from(await redactKept(bytes, redactor, { ...crm, session })).toString();
    const first = await keep("a");
    expect((await keep("a")) === first).toBe(true);
    const other = await keep("b");
    expect(other === first).toBe(false);
    await redactor.endSession("a");
    const later = await keep("a");
    expect(later === first).toBe(false);
    for (const [session, shown] of [
      ["b", other],
      ["a", later],
    ] as const)
      expect(await redactor.detokenize(shown, { ...mail, session })).toBe(bytes.toString());
  });

  it("knows the secrets and other values of a file when they leave without their names, and in another form", async () => {
    const redactor = createRedactor();
    const list = people.map((one, at) => ({ ...one, phone: `+1 (202) 555-${1_000 + at}` }));
    const bytes = Buffer.from(JSON.stringify(list));
    expect(await redactKept(bytes, redactor, crm)).toBe(bytes);
    const left = redactor.tokenize(
      ["It is secret77.", "https://wa.me/12025551099", ["p9", "example.com"]],
      {},
    );
    expect(JSON.stringify(left)).not.toMatch(/secret77|5551099|"p9"/);
  });

  it("keeps what is no text, and gives back the bytes where code sees values", async () => {
    const bytes = Buffer.from(Array.from({ length: 5_000 }, (_, n) => (n * 31) % 256));
    expect(await redactKept(bytes, createRedactor({ guest: "tokens", rules }), crm)).toBe(bytes);
    const text = Buffer.from(EMAIL);
    expect(await redactKept(text, createRedactor(), crm)).toBe(text);
  });

  it("cuts no private key that lies across two parts", async () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${"QUJD".repeat(16)}\n${"REVG".repeat(16)}\n-----END PRIVATE KEY-----`;
    const text = `${"a line of text\n".repeat(17_476)}${key}\n${"a line of text\n".repeat(100)}`;
    const redactor = createRedactor({ guest: "tokens" });
    const shown = Buffer.from(await redactKept(Buffer.from(text), redactor, crm)).toString();
    expect(shown).not.toMatch(/QUJDQUJD|REVGREVG/);
    expect(await redactor.detokenize(shown, mail)).toBe(text);
  });
});

describe("an answer to a tool's question", () => {
  /** Has a tool ask for a name, and answers with the token of an address that another tool gave. */
  async function ask(rules: readonly FlowRule[]): Promise<unknown> {
    const redactor = createRedactor({ rules, guest: "tokens" });
    const name = redactor.tokenize(EMAIL, crm);
    let answer: unknown;
    const next: ToolInvoker = {
      specificationVersion: "v1",
      async invoke(_call, { elicit, signal }) {
        const requestedSchema = { type: "object", properties: {} };
        answer = await elicit?.({ server: "mail", mode: "form", message: "Who?", requestedSchema, signal });
        return { ok: true, value: null };
      },
    };
    const { signal } = new AbortController();
    const elicit: Elicit = async () => ({ action: "accept", content: { name } });
    await redactCalls(redactor)(next).invoke({ ...mail, args: {} }, { signal, elicit });
    return answer;
  }

  it("has the values that rules let go to the tool, and no others", async () => {
    const given = { action: "accept", content: { name: EMAIL } };
    const way = { from: "crm", to: "mail.send" };
    const allow = { action: "allow" as const };
    expect(await ask([{ ...way, ...allow }])).toEqual(given);
    expect(await ask([{ ...way, to: "mail.ask", action: "deny" }, allow])).toEqual(given);
    expect(await ask([{ ...way, action: "deny" }, allow])).toEqual({
      action: "cancel",
      reason:
        "The answer was withheld (FLOW_DENIED): A value of type EMAIL that came from crm.get may not go to mail.send: no rule allows it.",
    });
  });
});

describe("origins", () => {
  it("are those of an error, too", async () => {
    const redactor = createRedactor({ rules });
    const error = { code: "TOOL_FAILED", message: `${EMAIL} is locked`, details: {} };
    const next = { specificationVersion: "v1" as const, invoke: async () => ({ ok: false as const, error }) };
    const { signal } = new AbortController();
    await redactCalls(redactor)(next).invoke({ ...crm, args: {} }, { signal });
    await expect(redactor.detokenize(EMAIL, mail)).rejects.toMatchObject(DENIED);
  });

  it("are those of what a tool throws, which code that sees tokens only has with tokens", async () => {
    const next = {
      specificationVersion: "v1" as const,
      invoke: async () => Promise.reject(new Error(`${EMAIL} is locked`)),
    };
    const { signal } = new AbortController();
    const messages = {
      values: `${EMAIL} is locked`,
      tokens: expect.stringMatching(/^\[\[EMAIL:\w+\]\] is locked$/) as unknown,
    };
    for (const guest of ["values", "tokens"] as const) {
      const redactor = createRedactor({ rules, guest });
      const thrown = redactCalls(redactor)(next).invoke({ ...crm, args: {} }, { signal });
      await expect(thrown).rejects.toMatchObject({ message: messages[guest] });
      const shown = redactor.tokenize(EMAIL, crm);
      await expect(redactor.detokenize(shown, mail)).rejects.toMatchObject(DENIED);
    }
  });

  it("are known to later sessions of the workspace, but for what their code has in its text", async () => {
    const redactor = createRedactor({ rules, workspaceOf: (session) => session.split(" ")[0] ?? "" });
    redactor.observe(
      { email: EMAIL, card: "4111 1111 1111 1111", password: "letmein" },
      { ...crm, session: "a 1" },
    );
    await redactor.endSession("a 1");
    const later = { ...mail, session: "a 2" };
    for (const value of [EMAIL, "4111111111111111", "letmein", [EMAIL.toUpperCase()]])
      await expect(redactor.detokenize(value, later)).rejects.toMatchObject(DENIED);
    expect(await redactor.detokenize("bob@example.com", later)).toBe("bob@example.com");
    expect(await redactor.detokenize(EMAIL, { ...mail, session: "b 1" })).toBe(EMAIL);
    // A value that left the later session as a token is no more its own than before.
    const shown = redactor.tokenize(EMAIL, { session: "a 2" });
    await expect(redactor.detokenize(EMAIL, later)).rejects.toMatchObject(DENIED);
    await expect(redactor.detokenize(shown, later)).rejects.toMatchObject(DENIED);
    redactor.reveal(`return send("${EMAIL}")`, { session: "a 3" });
    expect(await redactor.detokenize(EMAIL, { ...mail, session: "a 3" })).toBe(EMAIL);
    redactor.forgetWorkspace?.("a 2");
    expect(await redactor.detokenize("letmein", { ...mail, session: "a 4" })).toBe("letmein");
  });
});
