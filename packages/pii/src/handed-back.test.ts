import { restoreTokens } from "@cem/core";
import type { JsonObject, Sample } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createRedactor, redactCalls } from "./index.ts";

const session = "s1";
const VALUES = {
  people: [{ email: "ada@example.com", phone: 12_025_550_143 }, { email: "bob@example.com" }],
  "eve@example.com": ["Mail eve@example.com and ada@example.com"],
  password: "p'a$s`w/{}-1",
};

describe("restoreTokens", () => {
  it.each(["values", "tokens"] as const)(
    "gives back what was read, also moved and in texts: code sees %s",
    async (guest) => {
      const redactor = createRedactor({ guest });
      const shown = redactor.tokenize(VALUES, { session });
      const current = async () => VALUES;
      const moved = { copy: shown, first: `To ${shown.people[0]?.email}!` };
      expect(await restoreTokens(moved, { redactor, session, current })).toEqual({
        copy: VALUES,
        first: "To ada@example.com!",
      });
    },
  );

  it("leaves tokens of values that are not kept yet to code that sees tokens only", async () => {
    const redactor = createRedactor({ guest: "tokens" });
    const found = redactor.tokenize("zoe@example.com", { session, server: "crm" });
    const { people } = redactor.tokenize(VALUES, { session });
    const current = async () => VALUES;
    expect(await restoreTokens({ found, people }, { redactor, session, current })).toEqual({
      found,
      people: VALUES.people,
    });
  });

  it.each([
    ["a token of another session", "[[EMAIL:aaaabbbbccccdddd]]", "a[0].b has the token [[EMAIL:"],
    [
      "one that was cut",
      "Mail [[EMAIL:aaaabbbb",
      'a[0].b has "[[EMAIL:aaaabbbb", which is a part of a token',
    ],
    ["one with dots", "[[PERSON:aaaa…]]", 'a[0].b has "[[PERSON:aaaa…"'],
    ["one that lost letters", "[[SSN:aaaabbbbccccddd]]", 'a[0].b has "[[SSN:aaaabbbbccccddd]]"'],
    ["an address that lost letters", "user.aaaa@redacted.invalid", 'a[0].b has "redacted.invalid"'],
    ["a number that stands for another", 8_912_345_678_901_234, "a[0].b has the token 8912345678901234"],
  ])("refuses %s with its place", async (_what, value, message) => {
    const redactor = createRedactor();
    const current = async () => null;
    await expect(restoreTokens({ a: [{ b: value }] }, { redactor, session, current })).rejects.toMatchObject({
      code: "TOKEN_UNKNOWN",
      message: expect.stringContaining(message),
    });
  });

  it("leaves alone what only looks like a token", async () => {
    const data = { note: "[[TODO:responsibilities of all]] [[see]] [[NOTE:a]]", n: 1.5e300, id: 2 ** 53 - 1 };
    const current = async () => null;
    expect(await restoreTokens(data, { redactor: createRedactor(), session, current })).toEqual(data);
  });
});

describe("what code writes that sees tokens only", () => {
  const phone = "+1 (202) 555-0143";

  it("tells nothing of what tools returned, however often it guesses", async () => {
    const redactor = createRedactor({
      guest: "tokens",
      rules: [{ from: "crm", to: "mail", action: "deny" }],
    });
    const shown = redactor.tokenize(
      { phone, password: "Kuchen-4711" },
      { session, server: "crm", tool: "get" },
    );
    const guesses = Array.from({ length: 200 }, (_, at) => `+1 (202) 555-${String(at).padStart(4, "0")}`);
    const stream = redactor.openStream({ session, isOfCode: true });
    const printed = stream.push(`${[...guesses, "12025550143", "Kuchen-4711"].join("\n")}\n`) + stream.end();
    const returned = redactor.tokenize(guesses, { session, isOfCode: true });
    expect(new Set(returned).size).toBe(200);
    expect(returned).not.toContain(shown.phone);
    expect(printed).not.toContain(shown.phone);
    expect(printed.trim().split("\n").slice(-2)).toEqual(["12025550143", "Kuchen-4711"]);
    // Nor does a rule answer whether a guess is right.
    const mail = { session, server: "mail", tool: "send" };
    expect(await redactor.detokenize(returned, mail)).toEqual(guesses);
    await expect(redactor.detokenize(shown.phone, mail)).rejects.toMatchObject({ code: "FLOW_DENIED" });
  });

  it.each<[string, (token: string) => string]>([
    ["without brackets", (token) => token.slice(2, -2)],
    ["by its id", (token) => token.slice(-18, -2)],
    ["in base64", (token) => btoa(`To: ${token}`)],
    ["in base64url of JSON", (token) => Buffer.from(JSON.stringify({ to: token })).toString("base64url")],
    ["with entities", (token) => token.replaceAll("[", "&#91;").replaceAll("]", "&#93;")],
    ["with escapes of Markdown", (token) => token.replaceAll(/[[\]]/g, "\\$&")],
    ["beside a whole one", (token) => `${token} ${token.slice(2, -2)}`],
  ])("is refused where it has a token %s, which a tool would get as text", async (_way, write) => {
    const redactor = createRedactor({ guest: "tokens" });
    const shown = redactor.tokenize(
      { phone, number: 12_025_550_143 },
      { session, server: "crm", tool: "get" },
    );
    const mail = { session, server: "mail", tool: "send" };
    await expect(redactor.detokenize({ raw: write(shown.phone) }, mail)).rejects.toMatchObject({
      code: "TOKEN_UNKNOWN",
      message: expect.stringContaining(shown.phone.slice(-18, -2)),
    });
    const numbers = { raw: btoa(`{"to":${shown.number}}`) };
    await expect(redactor.detokenize(numbers, mail)).rejects.toMatchObject({ code: "TOKEN_UNKNOWN" });
    const whole = { raw: btoa("Nobody is in here"), html: `<b>${shown.phone}</b>`, number: shown.number };
    expect(await redactor.detokenize(whole, mail)).toEqual({
      ...whole,
      html: `<b>${phone}</b>`,
      number: 12_025_550_143,
    });
  });

  it("has the token that a user's own words have", () => {
    const redactor = createRedactor({ guest: "tokens" });
    const token = redactor.tokenize(phone, { session, isWritten: true });
    expect(redactor.tokenize({ to: phone }, { session, isOfCode: true })).toEqual({ to: token });
  });
});

describe("reveal", () => {
  it.each(["p'a$s`w/{}-1", "*/ ${1} // `'", "https://ada:pw@example.com/a?b=$c#'d'", "O'Brien"])(
    "writes %j into every literal of code",
    async (value) => {
      const redactor = createRedactor();
      const token = redactor.keep(value, "NAME", { session });
      const code = redactor.reveal(
        `/* ${token} */ export default ["${token}", '${token}', \`${token}\`, JSON.parse('["${token}"]')[0]]; // ${token}`,
        { session },
      );
      const module = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
        default: unknown;
      };
      expect(module.default).toEqual([value, value, value, value]);
    },
  );

  it.each(['a"b', "a\\b", "a\nb"])("leaves the token of %j, which the bridge turns back", (value) => {
    const redactor = createRedactor();
    const token = redactor.keep(value, "NAME", { session });
    expect(redactor.reveal(`"${token}"`, { session })).toBe(`"${token}"`);
  });
});

describe("redactCalls", () => {
  it("shows a client's model tokens, and gives the server values", async () => {
    const redactor = createRedactor();
    let asked: JsonObject = {};
    const sample: Sample = async ({ params }) => {
      asked = params;
      return { content: { type: "text", text: `Dear ${params["to"] as string}` } };
    };
    const invoker = redactCalls(redactor)({
      specificationVersion: "v1",
      async invoke({ server }, context) {
        const { signal } = context;
        const params = { to: "ada@example.com" };
        return { ok: true, value: (await context.sample?.({ server, params, signal })) ?? null };
      },
    });
    const { signal } = new AbortController();
    const result = await invoker.invoke(
      { server: "mail", tool: "draft", args: {} },
      { signal, session, sample },
    );
    expect(asked["to"]).toMatch(/^\[\[EMAIL:/u);
    expect(result).toMatchObject({ value: { content: { text: "Dear ada@example.com" } } });
  });
});
