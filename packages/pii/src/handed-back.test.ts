import { restoreTokens } from "@cem/core";
import type { Approve, Elicit, ElicitRequest, JsonObject, Sample, ToolInvoker } from "@cem/core";
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

  it("leaves tokens that are kept as tokens, beside values that are kept in clear", async () => {
    const redactor = createRedactor({ guest: "tokens" });
    const person = { email: "zoe@example.com", phone: 12_025_550_143 };
    const shown = redactor.tokenize(person, { session, server: "crm" });
    const kept = {
      p: shown,
      text: `To ${shown.email}, ${shown.phone}`,
      [shown.email]: { own: "ada@example.com" },
    };
    const told = redactor.tokenize(kept, { session });
    expect(JSON.stringify(told)).not.toContain("ada@example.com");
    expect(await restoreTokens(told, { redactor, session, current: async () => kept })).toEqual(kept);
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
    ["without any sign", (token) => `user-${token.replaceAll(/\W/g, "")}`],
    ["without any sign, joined to others", (token) => `to${token.toLowerCase().replaceAll(/\W/g, "")}and`],
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

  it.each([
    ["masked", (token: string) => `****${token.slice(-4)}`],
    ["with its last letters in a sentence", (token: string) => `Card ending ${token.slice(-6)}, thanks`],
    ["with its first letters in a sentence", (token: string) => `id=${token.slice(2, 13)} and`],
    ["beside a whole one", (token: string) => `${token} (${token.slice(4, 13)})`],
  ])("is refused where a part of a token is in a text: %s", async (_way, write) => {
    const redactor = createRedactor({ guest: "tokens" });
    const values = Array.from({ length: 20 }, (_, at) => `ada${at}@example.com`);
    const tokens = redactor.tokenize(values, { session, server: "crm", tool: "get" });
    // An end of digits alone may be that of a matrix.
    const at = tokens.findIndex((token) => /[a-z]/u.test(token.slice(-4)));
    const [value = "", email = ""] = [values[at], tokens[at]];
    const mail = { session, server: "mail", tool: "send" };
    await expect(redactor.detokenize({ raw: write(email) }, mail)).rejects.toMatchObject({
      code: "TOKEN_UNKNOWN",
      message: expect.stringContaining("is a part of a token"),
    });
    const numbers = { raw: `1, ${"23]] abcdefghijkl]] ".repeat(200_000)} and so on` };
    expect(await redactor.detokenize(numbers, mail)).toEqual(numbers);
    const code = { raw: `rows[at[${email.slice(-4, -2)}]] = "${email}"; // INFO:starting` };
    expect(await redactor.detokenize(code, mail)).toEqual({
      raw: code.raw.replace(email, value),
    });
  });

  it.each([
    ["in base64", (token: string) => btoa(`mail ${token}`)],
    ["percent-encoded twice", (token: string) => encodeURIComponent(encodeURIComponent(token))],
  ])("is refused where it has another session's token %s", async (_way, write) => {
    const redactor = createRedactor({ guest: "tokens" });
    const foreign = redactor.tokenize("ada@example.com", { session: "another", server: "crm" });
    const mail = { session, server: "mail", tool: "send" };
    await expect(redactor.detokenize({ raw: write(foreign) }, mail)).rejects.toMatchObject({
      code: "TOKEN_UNKNOWN",
    });
  });

  it("has the token that a user's own words have", () => {
    const redactor = createRedactor({ guest: "tokens" });
    const token = redactor.tokenize(phone, { session, isWritten: true });
    expect(redactor.tokenize({ to: phone }, { session, isOfCode: true })).toEqual({ to: token });
  });
});

describe.each(["values", "tokens"] as const)(
  "a value in JSON that is a text, where code sees %s",
  (guest) => {
    const password = 'x","admin":true,"z":"\\\n';
    const api = { session, server: "api", tool: "post" };
    const redactor = createRedactor({ guest });
    const given = { password, phone: 12_025_550_143 };
    const shown = redactor.tokenize(given, { session, server: "crm" });
    const sent = async (text: string): Promise<string> => redactor.detokenize(text, api) as Promise<string>;

    it("adds no members, in JSON and in JSON in it", async () => {
      const body = JSON.stringify({ admin: false, pw: shown.password, [shown.password]: [shown.phone] });
      const whole = { admin: false, pw: password, [password]: [given.phone] };
      expect(JSON.parse(await sent(body))).toEqual(whole);
      const outer = JSON.stringify(JSON.stringify({ messages: [body, shown.password] }));
      const { messages } = JSON.parse(JSON.parse(await sent(outer)) as string) as {
        messages: [string, string];
      };
      expect([JSON.parse(messages[0]), messages[1]]).toEqual([whole, password]);
    });

    it("adds no members to lines, events and requests of it", async () => {
      const member = JSON.stringify({ pw: shown.password });
      const expected = JSON.stringify({ pw: password });
      for (const write of [
        (json: string) => `${json}\n${json}\n`,
        (json: string) => `["${"ab".repeat(8_000_000)}"]\n${json}`,
        (json: string) => `["${Buffer.from("plain words ".repeat(500_000)).toString("base64")}"]\n${json}`,
        (json: string) => `https://api/?a="${encodeURIComponent("b")}&q=${encodeURIComponent(json)}`,
        (json: string) => `data: ${json}\n\n`,
        (json: string) => `POST / HTTP/1.1\nHost: api\n\n${json}`,
      ])
        expect(await sent(write(member))).toBe(write(expected));
    });

    it("has no second escape where it was a piece of JSON, and ends no string of JSON in it", async () => {
      const key = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkq".repeat(4)}\n-----END PRIVATE KEY-----`;
      const printed = `a: ${JSON.stringify({ key })}`;
      const text = redactor.tokenize(printed, { session, server: "crm" });
      const [piece = ""] = /\[\[SECRET:\w+\]\]/u.exec(text) ?? [];
      const body = JSON.stringify({ key: piece });
      expect(JSON.parse(await sent(body))).toEqual({ key });
      const { inner } = JSON.parse(await sent(JSON.stringify({ inner: body }))) as { inner: string };
      expect(JSON.parse(inner)).toEqual({ key });
      for (const write of [(given: string) => given, (given: string) => `{"ok":1}\n${given}`]) {
        expect(await sent(write(text))).toBe(write(printed));
        expect(await sent(JSON.stringify({ log: write(text) }))).toBe(
          JSON.stringify({ log: write(printed) }),
        );
      }
    });

    it("keeps a backslash of plain text", async () => {
      const text = redactor.tokenize("password: Zq7\\new9temp and so on", { session, server: "crm" });
      const [pw = ""] = /\[\[SECRET:\w+\]\]/u.exec(text) ?? [];
      expect(JSON.parse(await sent(JSON.stringify({ pw })))).toEqual({ pw: "Zq7\\new9temp" });
    });

    it("leaves everything else as written", async () => {
      const text = (value: unknown): string =>
        `{ "n": 12345678901234567890, "x" : 1.0, "\\u0061": ${JSON.stringify(value)} }`;
      expect(await sent(text(shown.password))).toBe(text(password));
      expect(await sent(`"Say ${shown.password}", she said`)).toBe(`"Say ${password}", she said`);
    });
  },
);

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

describe("a rule that asks", () => {
  const args = { text: "ada@example.com" };
  const mail = { server: "mail", tool: "send", args };
  const next: ToolInvoker = {
    specificationVersion: "v1",
    invoke: async (call) => ({ ok: true, value: call.args ?? null }),
  };
  const { signal } = new AbortController();

  /** Sends values of another tool twice, as often as the question about them is answered. */
  async function send(asking: Parameters<typeof redactCalls>[1], context = {}): Promise<unknown[]> {
    const redactor = createRedactor({ rules: [{ from: "crm", to: "mail", action: "ask" }] });
    redactor.observe({ email: args.text }, { server: "crm", tool: "get" });
    const invoker = redactCalls(redactor, asking)(next);
    const sent = [1, 2].map(() => invoker.invoke(mail, { signal, ...context }));
    return (await Promise.allSettled(sent)).map((one) => ("value" in one ? "sent" : one.reason.code));
  }

  it("asks in its own name, once for the session, and first whoever the run can ask", async () => {
    const asked: Pick<ElicitRequest, "server" | "message">[] = [];
    const elicit: Elicit = async ({ server, message }) => {
      asked.push({ server, message });
      return { action: "accept", content: { allow: true } };
    };
    const nobody: Elicit = async () => ({ action: "decline" });
    const way = "a value of type EMAIL that came from crm.get go to mail.send?";
    expect(await send({ elicit })).toEqual(["sent", "sent"]);
    expect(await send({ elicit: nobody }, { elicit })).toEqual(["sent", "sent"]);
    const approve: Approve = async () => "session";
    expect(await send({ elicit: nobody }, { approve })).toEqual(["sent", "sent"]);
    const question = { server: "cem", message: `privacy.rules say to ask: may ${way}` };
    expect(asked).toEqual([question, question]);
    expect(await send({ elicit: nobody })).toEqual(["FLOW_DENIED", "FLOW_DENIED"]);
    expect(await send({})).toEqual(["FLOW_DENIED", "FLOW_DENIED"]);
  });

  it("asks who approves calls where nobody answers questions, for each call or for the session", async () => {
    const asked: unknown[] = [];
    const answering =
      (answer: "once" | "session" | "no"): Approve =>
      async (call) => {
        asked.push([call.server, call.tool, call.args]);
        return answer;
      };
    expect(await send({ approve: answering("once") })).toEqual(["sent", "sent"]);
    const shown = ["mail", "send", args];
    expect(asked).toEqual([shown, shown]);
    expect(await send({ approve: answering("no") }, { approve: answering("session") })).toEqual([
      "sent",
      "sent",
    ]);
    expect(await send({ approve: answering("no") })).toEqual(["FLOW_DENIED", "FLOW_DENIED"]);
    expect(asked).toHaveLength(4);
    expect(await send({ approve: () => Promise.reject(new Error("away")) })).toEqual([
      "FLOW_DENIED",
      "FLOW_DENIED",
    ]);
  });
});
