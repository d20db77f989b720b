import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { toErrorInfo } from "@cem/core";
import type { ElicitAnswer, ElicitRequest, JsonValue, Redactor } from "@cem/core";
import { hintFor } from "@cem/core/errors";
import { build } from "esbuild";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor } from "./index.ts";
import type { RedactorSettings } from "./index.ts";
import { visitTexts } from "./json-walk.ts";

type RedactionTarget = Parameters<Redactor["detokenize"]>[1];

const target: RedactionTarget = { server: "mail", tool: "send" };
const from = { server: "crm", tool: "get" };
const TOKEN = /^\[\[[A-Z_]+:[a-z2-7]{16}\]\]$/;

const email = fc
  .tuple(fc.stringMatching(/^[a-z]{2,8}\d{1,4}$/), fc.constantFrom("example.com", "mail.example.co.uk"))
  .map(([local, domain]) => `${local}@${domain}`);
const ssn = fc
  .tuple(
    fc.integer({ min: 101, max: 665 }),
    fc.integer({ min: 10, max: 99 }),
    fc.integer({ min: 1_000, max: 9_999 }),
  )
  .map((groups) => groups.join("-"));
const ip = fc
  .tuple(fc.integer({ min: 11, max: 99 }), fc.nat(255), fc.nat(255), fc.nat(255))
  .map((parts) => parts.join("."));
const value = fc.oneof(email, ssn, ip);
/** Without `ref`, which fast-check likes: what follows it is a number of a thing. */
const words = fc.stringMatching(/^[\p{L} \n'"\\{}😀-😂]{0,20}$/u).filter((text) => !/\bref\b/i.test(text));

describe("tokenize and detokenize", () => {
  it("give back any JSON, and no value stands in what was given out", async () => {
    const leaf = fc.oneof(
      fc.tuple(words, value, words).map(([before, inner, after]) => `${before} ${inner} ${after}`),
      value,
      words,
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .map((number) => (Object.is(number, -0) ? 0 : number)),
      fc.boolean(),
      fc.constant(null),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(fc.oneof(fc.string({ maxLength: 8 }), value, fc.constant("__proto__")), tie("tree"), {
          maxKeys: 4,
        }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(tree as fc.Arbitrary<JsonValue>, async (data) => {
        const redactor = createRedactor();
        const plain = JSON.parse(JSON.stringify(data)) as JsonValue;
        const shown = redactor.tokenize(plain, {});
        const text = JSON.stringify(shown);
        visitTexts(plain, (leafText) => {
          for (const [found] of leafText.matchAll(/\S+@example\.com|\d{3}-\d{2}-\d{4}/g))
            expect(text).not.toContain(found);
        });
        expect(await redactor.detokenize(shown, target)).toEqual(plain);
        expect(redactor.tokenize(shown, {})).toEqual(shown);
      }),
      { numRuns: 150 },
    );
  });

  it("give a value one token in a session and another in the next", async () => {
    const redactor = createRedactor();
    const first = redactor.tokenize("ada@example.com", { session: "a" });
    expect(first).toMatch(TOKEN);
    expect(redactor.tokenize({ to: "<ada@example.com>" }, { session: "a" })).toEqual({ to: `<${first}>` });
    const second = redactor.tokenize("ada@example.com", { session: "b" });
    expect(second).not.toBe(first);
    await expect(redactor.detokenize({ to: first }, { ...target, session: "b" })).rejects.toMatchObject({
      code: "TOKEN_UNKNOWN",
    });
    await expect(redactor.detokenize(["[[EMAIL:abcdefghijklmnop]]"], target)).rejects.toMatchObject({
      code: "TOKEN_UNKNOWN",
    });
    await redactor.endSession("a");
    await expect(redactor.detokenize(first, { ...target, session: "a" })).rejects.toMatchObject({
      code: "TOKEN_UNKNOWN",
    });
  });

  it("are refused where a part of one would reach a tool", async () => {
    const redactor = createRedactor();
    const token = redactor.tokenize("ada@example.com", {});
    const parts = [
      token.slice(0, -3),
      token.slice(7),
      `${token.slice(0, 12)} wrote`,
      `${token} and ${token.slice(0, 9)}`,
      token.slice(-4),
      token.slice(4, 14),
      token.slice(0, 4),
    ];
    for (const part of parts)
      await expect(redactor.detokenize({ to: part }, target)).rejects.toMatchObject({
        code: "TOKEN_UNKNOWN",
        message: expect.stringContaining("is a part of a token"),
      });
    const plain = {
      note: "[[TODO:responsibilities of all]] [[see]] [[NOTE:a]]",
      rows: "[[1,2],[3,4]]",
      end: "1]]",
      at: "T:1111",
    };
    expect(await redactor.detokenize(plain, target)).toBe(plain);
    expect(await redactor.detokenize(token.slice(7), { ...target, ownOnly: true })).toBe(token.slice(7));
  });

  it("find tokens in longer texts, in any case, and in addresses of pages", async () => {
    const redactor = createRedactor();
    const token = redactor.tokenize("ada@example.com", {});
    const sent = {
      a: `x${token}${token}.`,
      b: token.toLowerCase(),
      c: `https://x.org/?q=${encodeURIComponent(token)}`,
      [token]: 1,
    };
    expect(await redactor.detokenize(sent, target)).toEqual({
      a: "xada@example.comada@example.com.",
      b: "ada@example.com",
      c: "https://x.org/?q=ada%40example.com",
      "ada@example.com": 1,
    });
  });

  it("stay numbers where data has numbers, and are found in texts", async () => {
    const redactor = createRedactor();
    const data = { card: 4111111111111111, all: [4111111111111111, 7] };
    const shown = redactor.tokenize(data, {});
    expect(shown).toEqual({ card: expect.any(Number), all: [shown.card, 7] });
    expect(shown.card).not.toBe(data.card);
    expect(redactor.tokenize(shown, {})).toEqual(shown);
    expect(await redactor.detokenize(shown, target)).toEqual(data);
    expect(await redactor.detokenize(`card=${shown.card}; end`, target)).toBe("card=4111111111111111; end");
  });

  it("refuse numbers that are no token of the session, but not ids that tools gave", async () => {
    const redactor = createRedactor({ guest: "tokens" });
    const id = 8_923_456_789_012_345;
    const shown = redactor.tokenize({ card: 4_111_111_111_111_111, id }, {});
    expect(await redactor.detokenize({ shown, rows: [id] }, target)).toEqual({
      shown: { card: 4_111_111_111_111_111, id },
      rows: [id],
    });
    for (const card of [8_912_345_678_901_234, shown.card + 1])
      await expect(redactor.detokenize({ card }, target)).rejects.toMatchObject({ code: "TOKEN_UNKNOWN" });
    const own = { all: [Number.MAX_SAFE_INTEGER, 89, 4_111_111_111_111_112] };
    expect(await redactor.detokenize(own, target)).toBe(own);
    const asked = { card: 8_912_345_678_901_234 };
    expect(await redactor.detokenize(asked, { ...target, ownOnly: true })).toEqual(asked);
    // A session without tokens of numbers, and code that sees values: it can only be an id.
    expect(await redactor.detokenize(asked, { ...target, session: "other" })).toEqual(asked);
    const seeing = createRedactor();
    seeing.tokenize({ card: 4_111_111_111_111_111 }, {});
    expect(await seeing.detokenize(asked, target)).toEqual(asked);
  });

  it("look through what stands for an object in JSON", async () => {
    class Money {
      #to = "ada@example.com";
      toJSON() {
        return { to: this.#to };
      }
    }
    const redactor = createRedactor();
    const data = {
      url: new URL("https://example.com/?mail=ada@example.com"),
      rows: Array.from({ length: 99 }, () => new Money()),
    };
    for (const shown of [redactor.tokenize(data, {}), await redactor.tokenizeInTurns?.(data, {})]) {
      expect(JSON.stringify(shown)).not.toContain("ada@");
      expect(shown).toMatchObject({ rows: expect.arrayContaining([{ to: expect.stringMatching(TOKEN) }]) });
    }
    const plain = { url: new URL("https://example.com/"), at: new Date() };
    expect(redactor.tokenize(plain, {})).toBe(plain);
    const own = { mail: "ada@example.com", toJSON: () => own };
    expect(redactor.tokenize(own, {})).toMatchObject({ mail: expect.stringMatching(TOKEN) });
  });

  it("leave out what is nested too deep to be looked at", () => {
    let data: JsonValue = "ada@example.com";
    for (let depth = 0; depth < 5_000; depth += 1) data = [data];
    expect(JSON.stringify(createRedactor().tokenize(data, {}))).not.toContain("ada@");
  });
});

describe("createRedactor", () => {
  it.each<[object, string]>([
    [{ types: ["email"] }, '"email" is not a type, such as EMAIL.'],
    [{ types: ["ALL"] }, '"ALL" is not a type'],
    [{ types: "EMAIL" }, '"types" of createRedactor has to be a list'],
    [{ regions: ["DE", "uk"] }, '"uk" is not the code of a country'],
    [{ custom: [{ type: "emp no", pattern: /EMP/ }] }, '"emp no" is not a type, such as EMPLOYEE.'],
    [{ Types: ["EMAIL"] }, '"Types" is not an option of createRedactor. Did you mean "types"?'],
    [{ guest: "token" }, '"guest" of createRedactor has to be one of "values", "tokens"'],
    [{ rules: [{ form: "crm", action: "allow" }] }, '"form" is not an option of a rule'],
    [{ rules: [{ from: "crm", action: "allowed" }] }, '"action" of a rule of createRedactor has to be'],
  ])("refuses %j, by which less would be found than is meant", (settings, message) => {
    expect(() => createRedactor(settings)).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining(message) }),
    );
  });

  it("finds nothing but types of one's own where it is told so", () => {
    const custom = [{ type: "EMPLOYEE", pattern: /E\d{6}/ }];
    for (const types of [[], ["EMPLOYEE"]])
      expect(createRedactor({ types, custom }).tokenize("E123456 a@example.com", {})).toMatch(
        /^\[\[EMPLOYEE:\w{16}\]\] a@example\.com$/,
      );
  });
});

describe("observe", () => {
  it("has values known that only their key told", () => {
    const redactor = createRedactor();
    redactor.observe({ password: "letmein", phone: "781 5991", note: "plain" }, from);
    const shown = redactor.tokenize("letmein and 781 5991, plain", {});
    expect(shown).toMatch(/^\[\[SECRET:\w+\]\] and \[\[PHONE:\w+\]\], plain$/);
  });

  it.each([
    { name: "DB password", value: "letmein" },
    { user: "a", pass: "letme1n" },
    { columns: ["user", "password"], rows: [["ada", "letmein"]] },
    {
      fields: [{ name: "user" }, { name: "password" }],
      rows: Array.from({ length: 90 }, () => ["ada", "letmein"]),
    },
  ])("has passwords known that a name beside them tells", async (data) => {
    const redactor = createRedactor();
    redactor.observe(data, from);
    expect(redactor.tokenize("letmein or letme1n", {})).toContain("[[SECRET:");
    expect(JSON.stringify(await createRedactor().tokenizeInTurns?.(data, {}))).not.toMatch(/letme[i1]n/);
  });

  it("takes nothing beside another name for a password", () => {
    const data = [
      { name: "user", value: "letmein" },
      { columns: ["user", "password"], rows: [["letmein", "null"]] },
      { passed: "letme1n", pass: "all 12" },
    ];
    expect(createRedactor().tokenize(data, {})).toBe(data);
  });

  it("has the beginning of a value known where a text is cut", () => {
    const redactor = createRedactor();
    redactor.tokenize("ada.lovelace@example.com", {});
    expect(redactor.tokenize("to ada.lovel", { isCut: true })).toMatch(/^to \[\[EMAIL:/);
    expect(redactor.tokenize("to ada.lovel", {})).toBe("to ada.lovel");
  });

  it("has it known where the sandbox cut a text", async () => {
    const redactor = createRedactor();
    redactor.tokenize(["ada.lovelace@example.com", "5555 3412 4444 1115"], {});
    const note = (limit: number): string => `[Only the first ${limit} characters are shown.]`;
    const text = `TypeError: ada.lovel ${note(256)}: card 5555 3412 4444 11 ${note(8_192)}`;
    const shown = redactor.tokenize(text, {});
    expect(shown).toMatch(/^TypeError: \[\[EMAIL:\w+\]\] \[Only.*card \[\[CREDIT_CARD:\w+\]\] \[Only/);
    // In pieces of any length.
    for (let before = 0; before < 60; before += 1) {
      const long = `${"word ".repeat(1_640)}${"x".repeat(before)} ${text}${"\nword".repeat(2_000)}`;
      expect(await redactor.tokenizeInTurns?.(long, {})).not.toMatch(/lovel|5555/);
    }
  });
});

describe("tokenizePart", () => {
  it("shows each value once, cut anywhere", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(words, value), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 30 }),
        async (pieces, size) => {
          const redactor = createRedactor();
          const text = pieces.map(([word, one]) => `${word} ${one} `).join("");
          let shown = "";
          for (let start = 0; start < text.length; start += size) {
            shown += redactor.tokenizePart(text, { start, end: Math.min(text.length, start + size) }, {});
          }
          expect(shown).toBe(redactor.tokenize(text, {}));
          expect(await redactor.detokenize(shown, target)).toBe(text);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe("nine digits alone", () => {
  it("are a number in what programs print and return, and a value as a text of its own", () => {
    const redactor = createRedactor();
    const plain = [166409751, { value: "166409751", bytes: "166409751" }];
    expect(redactor.tokenize(plain, {})).toBe(plain);
    const stream = redactor.openStream({});
    expect(stream.push("166409751\n") + stream.end()).toBe("166409751\n");
    expect(redactor.tokenize("166409751", {})).toMatch(/^\[\[SSN:/);
    // It is known now.
    expect(redactor.tokenize({ value: "166409751" }, {}).value).toMatch(/^\[\[SSN:/);
  });
});

describe("openStream", () => {
  it("knows the columns of a table that is printed line by line", () => {
    const stream = createRedactor().openStream({});
    const pieces = [
      "id,password,city\n",
      "1,letmein,Berlin\n",
      '2,"open, sesame",Rome\n',
      "Done: all of them, really\n",
      "a,b,c\n",
    ];
    const printed = pieces.map((piece) => stream.push(piece)).join("") + stream.end();
    expect(printed).toMatch(
      /^id,password,city\n1,\[\[SECRET:\w+\]\],Berlin\n2,"\[\[SECRET:\w+\]\]",Rome\nDone: all of them, really\na,b,c\n$/,
    );
  });

  it("lets no value through, cut anywhere, and gives back the text", async () => {
    const line = fc.array(fc.tuple(words, value), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        async (lines, cuts) => {
          const redactor = createRedactor();
          const text = lines
            .map((pieces) => pieces.map(([word, one]) => `${word} ${one} `).join(""))
            .join("\n");
          const stream = redactor.openStream({});
          let shown = "";
          for (let at = 0, turn = 0; at < text.length; turn += 1) {
            const size = cuts[turn % cuts.length] ?? 1;
            shown += stream.push(text.slice(at, at + size));
            at += size;
          }
          shown += stream.end();
          // Some words before a number say that it is another one: "ref 101-10-1000".
          const whole = redactor.tokenize(text, {});
          for (const [found] of text.matchAll(/\S+@example\.com|\d{3}-\d{2}-\d{4}/g))
            expect(shown.includes(found)).toBe(whole.includes(found));
          expect(await redactor.detokenize(shown, target)).toBe(text);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("holds back no line that has ended, and bounds what it holds", () => {
    const stream = createRedactor().openStream({});
    expect(stream.push("hello\nwor")).toBe("hello\n");
    let held = 3;
    for (let piece = 0; piece < 100; piece += 1) {
      held += 1_000 - stream.push("x".repeat(1_000)).length;
      expect(held).toBeLessThan(20_000);
    }
  });

  it("swallows a private key of any length", () => {
    const stream = createRedactor().openStream({});
    let shown = stream.push("a\n-----BEGIN RSA PRIVATE KEY-----\n");
    for (let row = 0; row < 1_000; row += 1) shown += stream.push(`${"QUJD".repeat(16)}\n`);
    shown += stream.push("-----END RSA PRIVATE KEY-----\ndone\n") + stream.end();
    expect(shown).not.toContain("QUJDQUJD");
    expect(shown).toContain("done");
  });
});

describe("the message of an error of JSON", () => {
  it.each([
    ["password", "Tr0ub4dor-3x", (value: string) => `${value} and more`],
    ["email", "ada.byron@example.com", (value: string) => `{"a": ${value}, "b": "ccccccc"}`],
    ["iban", "GB82WEST12345698765432", (value: string) => `${value};Ada;London`],
  ])("has no beginning of a %s that is known", (key, value, write) => {
    const redactor = createRedactor();
    redactor.observe({ [key]: value }, from);
    let message = "";
    try {
      JSON.parse(write(value));
    } catch (error) {
      message = String(error);
    }
    expect(message).toContain(value.slice(0, 5));
    expect(redactor.tokenize(message, {})).not.toContain(value.slice(0, 5));
  });
});

describe("rules", () => {
  const rules: RedactorSettings["rules"] = [
    { from: "crm", to: "mail.send", action: "allow" },
    { from: "SSN", to: "tax", action: "allow" },
    { from: "crm", to: "bank", action: "ask" },
  ];

  it("keep a value with its server, also when code joined it or wrote it in another way", async () => {
    const redactor = createRedactor({ rules });
    redactor.observe({ email: "ada@example.com", card: "4111 1111 1111 1111", ssn: "536-90-4399" }, from);
    const token = redactor.tokenize("ada@example.com", {});
    expect(await redactor.detokenize({ to: token }, target)).toEqual({ to: "ada@example.com" });
    const elsewhere = { server: "log", tool: "write" };
    for (const args of [
      { a: token },
      { a: "mail ada@example.com!" },
      { a: "4111111111111111" },
      { a: 4_111_111_111_111_111 },
      { a: "xada@example.comx" },
    ]) {
      await expect(redactor.detokenize(args, elsewhere)).rejects.toMatchObject({
        code: "FLOW_DENIED",
        details: { from: "crm.get", to: "log.write" },
      });
    }
    expect(await redactor.detokenize({ a: "536-90-4399" }, { server: "tax", tool: "file" })).toEqual({
      a: "536-90-4399",
    });
    expect(await redactor.detokenize({ a: token }, { server: "crm", tool: "update" })).toEqual({
      a: "ada@example.com",
    });
    expect(await redactor.detokenize({ a: "other@example.com" }, elsewhere)).toEqual({
      a: "other@example.com",
    });
  });

  it.each([
    ["email", "xada@example.com"],
    ["email", "ada@example.community"],
    ["phone", "+1 (202) 555-0143 x5"],
    ["phone", "p2025550143@x.example"],
    ["ip", "203.0.113.77/24"],
    ["ip", "::ffff:203.0.113.77"],
    ["password", "password='my Tr0ub4dor-3x here'"],
    ["password", "https://u:Tr0ub4dor-3xZ@host.example/"],
    ["card", "password=4111-1111-1111-1111z"],
    ["ssn", "a.536-22-8726@example.com"],
  ] as const)("hold for a known %s in a longer value that is seen: %s", async (key, written) => {
    const person = {
      email: "ada@example.com",
      phone: "+1 (202) 555-0143",
      ip: "203.0.113.77",
      password: "Tr0ub4dor-3x",
      card: "4111 1111 1111 1111",
      ssn: "536-22-8726",
    };
    const denying = {
      rules: [{ from: "crm", to: "log", action: "deny" as const }, { action: "allow" as const }],
    };
    const elsewhere = { server: "log", tool: "write" };
    // Printed, and given back by another server, the longer value is known itself.
    for (const make of [
      (redactor: Redactor) => redactor.tokenize(written, {}),
      (redactor: Redactor) => redactor.observe({ note: written }, { server: "echo", tool: "say" }),
    ]) {
      const redactor = createRedactor(denying);
      redactor.observe({ [key]: person[key] }, from);
      const shown = make(redactor) ?? redactor.tokenize(written, {});
      expect(shown).toMatch(/\[\[[A-Z_]+:/);
      for (const args of [shown, written])
        await expect(redactor.detokenize(args, elsewhere)).rejects.toMatchObject({ code: "FLOW_DENIED" });
    }
  });

  it("ask about nothing that they deny", async () => {
    const redactor = createRedactor({ rules });
    redactor.observe({ email: "ada@example.com" }, from);
    let asked = 0;
    const elicit = async (): Promise<{ action: "accept"; content: { allow: boolean } }> => {
      asked += 1;
      return { action: "accept", content: { allow: true } };
    };
    const denied = redactor.detokenize("ada@example.com", { server: "log", tool: "write", elicit });
    await expect(denied).rejects.toThrow(/crm\.get may not go to log\.write: no rule allows it\.$/);
    expect(asked).toBe(0);
    const bank = redactor.detokenize("ada@example.com", { server: "bank", tool: "pay" });
    await expect(bank).rejects.toThrow(/may not go to bank\.pay: nobody said yes\.$/);
  });

  it("name all places that a refused value came from", async () => {
    const redactor = createRedactor({ rules: [{ from: "crm.list", to: "log", action: "allow" }] });
    for (const tool of ["get", "list", "search"])
      redactor.observe({ email: "ada@example.com" }, { server: "crm", tool });
    const denied = redactor.detokenize("ada@example.com", { server: "log", tool: "write" });
    const error = toErrorInfo(await denied.catch((one: unknown) => one));
    expect(error.message).toContain("came from crm.get, crm.search may not go to log.write: no rule");
    const allowed = ["get", "search"].map((tool) => `{ from: crm.${tool}, to: log.write, action: allow }`);
    expect(hintFor(error)).toContain(allowed.join(", "));
  });

  it("ask once, and take no answer for a no", async () => {
    const redactor = createRedactor({ rules });
    redactor.observe({ email: "ada@example.com" }, from);
    const bank = { server: "bank", tool: "pay" };
    await expect(redactor.detokenize("ada@example.com", bank)).rejects.toMatchObject({ code: "FLOW_DENIED" });
    const other = createRedactor({ rules });
    other.observe({ email: "ada@example.com" }, from);
    const asked: string[] = [];
    const elicit = async ({
      message,
    }: ElicitRequest): Promise<{ action: "accept"; content: { allow: boolean } }> => {
      asked.push(message);
      return { action: "accept", content: { allow: true } };
    };
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await other.detokenize("ada@example.com", { ...bank, elicit })).toBe("ada@example.com");
    }
    expect(asked).toEqual([
      "privacy.rules say to ask: may a value of type EMAIL that came from crm.get go to bank.pay?",
    ]);
  });

  it("ask again where a question was dismissed, could not be asked or ended with its run, and keep a no", async () => {
    const redactor = createRedactor({ rules });
    redactor.observe({ email: "ada@example.com" }, from);
    const cancelled = new Error("the run was ended");
    const answers: (() => ElicitAnswer)[] = [
      () => ({ action: "cancel" }),
      () => {
        throw cancelled;
      },
      () => ({ action: "decline" }),
    ];
    const elicit = async (): Promise<ElicitAnswer> => answers.shift()?.() ?? { action: "cancel" };
    const pay = (target = {}): Promise<unknown> =>
      redactor.detokenize("ada@example.com", { server: "bank", tool: "pay", ...target });
    await expect(pay()).rejects.toMatchObject({ code: "FLOW_DENIED" });
    await expect(pay({ elicit })).rejects.toMatchObject({ code: "FLOW_DENIED" });
    await expect(pay({ elicit })).rejects.toBe(cancelled);
    await expect(pay({ elicit })).rejects.toMatchObject({ code: "FLOW_DENIED" });
    expect(answers).toEqual([]);
    answers.push(() => ({ action: "accept", content: { allow: true } }));
    await expect(pay({ elicit })).rejects.toMatchObject({ code: "FLOW_DENIED" });
    expect(answers).toHaveLength(1);
  });

  it.each([
    ["crm.*", "web.mail.*"],
    ["crm", "*.send-*"],
    ["c*.v1.*", "web*.mail.*"],
    ["EMAIL", "web.mail"],
    ["crm.get_one", "web_mail.send_it"],
    ["*", "web_mail"],
  ])("name places by patterns, and by the names that they have in code: from %s to %s", async (from, to) => {
    const inCode = new Map([
      ["crm v1.get-one", { server: "crm", tool: "get_one" }],
      ["web.mail send-it", { server: "web_mail", tool: "send_it" }],
    ]);
    const redactor = createRedactor({
      rules: [{ from, to, action: "deny" }, { action: "allow" }],
      findNameInCode: async ({ server, tool }) => inCode.get(`${server} ${tool}`),
    });
    redactor.observe({ email: "ada@example.com" }, { server: "crm", tool: "v1.get-one" });
    const sent = redactor.detokenize("ada@example.com", { server: "web.mail", tool: "send-it" });
    await expect(sent).rejects.toMatchObject({ code: "FLOW_DENIED" });
    const other = { server: "web", tool: "get" };
    expect(await redactor.detokenize("ada@example.com", other)).toBe("ada@example.com");
  });
});

describe("a session that has ended", () => {
  it("is not begun anew by what comes late", async () => {
    const redactor = createRedactor();
    const [session, late] = [{ session: "a" }, { session: "a", isLate: true }];
    const token = redactor.tokenize("ada@example.com", session);
    expect(redactor.tokenize("ada@example.com", late)).toBe(token);
    await redactor.endSession("a");
    const shown = redactor.tokenize("ada@example.com", late);
    expect(shown).toMatch(TOKEN);
    await expect(redactor.detokenize(shown, { ...target, ...session })).rejects.toThrow(
      "no value of this session",
    );
  });
});

describe("recognizer", () => {
  it("has names replaced that a model found", async () => {
    const redactor = createRedactor({
      recognizer: {
        specificationVersion: "v1",
        recognize: async (texts) =>
          texts.map((text) => {
            const start = text.indexOf("Ada Lovelace");
            return start === -1 ? [] : [{ start, end: start + 12, type: "NAME" }];
          }),
      },
    });
    const data = { note: "Ask Ada Lovelace.", id: 7 };
    await redactor.recognize?.(data, {});
    const shown = redactor.tokenize(data, {});
    expect(shown.note).toMatch(/^Ask \[\[NAME:[a-z2-7]{16}\]\]\.$/);
    expect(await redactor.detokenize(shown, target)).toEqual(data);
  });
});

const person = (at: number) => ({ id: at, name: `row ${at}`, mail: `ada${at}@example.com`, note: null });
const rows = (count: number) => Array.from({ length: count }, (_, at) => person(at));
const lines = (count: number) =>
  Array.from(
    { length: count },
    (_, at) => `line ${at}: write to ada${at}@example.com or call +1 415 555 ${2_000 + at}`,
  );

/** An address in base64, after as many bytes as there may be before it. */
const ADDRESSES = [0, 1, 2].map((before) =>
  Buffer.from(`${"x".repeat(before)}ada@example.com`)
    .toString("base64")
    .slice(before === 0 ? 0 : 4, -4),
);

describe("tokenizeInTurns", () => {
  it.each<[string, JsonValue]>([
    ["rows", rows(2_000)],
    [
      "rows in an object, with values as names",
      { deep: [{ rows: rows(300) }], "ada@example.com": lines(200) },
    ],
    ["a long text of lines", lines(2_000).join("\n")],
    ["a long text without line ends", lines(2_000).join(" ")],
    ["a word without an end", `${"x".repeat(50_000)} ada@example.com ${"y".repeat(50_000)}`],
    ["what holds nothing", Array.from({ length: 5_000 }, (_, at) => ({ at, text: "plain" }))],
    ["little", "ada@example.com"],
  ])("replaces what tokenize replaces: %s", async (_, data) => {
    const shown = createRedactor().tokenize(data, {});
    const inTurns = await createRedactor().tokenizeInTurns?.(data, {});
    const plain = (text: unknown): string => JSON.stringify(text).replaceAll(/\[\[(\w+):\w+\]\]/g, "$1");
    const [one, other] = [plain(inTurns), plain(shown)];
    // Not compared as texts, which would be printed whole.
    expect(one === other).toBe(true);
    expect(inTurns === data).toBe(shown === data);
  });

  it.each([
    ["in one line", ""],
    ["in lines", "\r\n"],
  ])("finds values in long base64 of a text that is not English, %s", async (_form, lineEnd) => {
    for (const words of ["Здравствуйте, как дела? ", "您好请发邮件到 ", "🎉x🎉 "]) {
      for (let size = 3_000; size < 6_000; size += 137) {
        const around = words.repeat(size / words.length);
        const text = Buffer.from(`${around}ada@example.com ${around}`).toString("base64");
        const body = text.replaceAll(/.{76}/g, `$&${lineEnd}`);
        const shown = await createRedactor().tokenizeInTurns?.({ body }, {});
        const left = shown?.body.replaceAll("\r\n", "") ?? "";
        expect(ADDRESSES.filter((one) => left.includes(one))).toEqual([]);
      }
    }
  });

  it("finds values that lines of base64 and of quoted-printable divide, wherever pieces of a long text end", async () => {
    for (let size = 8_100; size < 8_210; size += 3) {
      const soft = `${"Hello there, 1.\r\n".repeat(500).slice(0, size)}ada=\r\n@exam=\r\nple.com`;
      const text = `${"Hello there. ".repeat(500).slice(0, Math.floor(size * 0.73))} ada@example.com!`;
      const body = Buffer.from(text).toString("base64").replaceAll(/.{76}/g, "$&\r\n");
      const shown = await createRedactor().tokenizeInTurns?.([soft, body], {});
      const left = shown?.map((one) => one.replaceAll("\r\n", "")) ?? [];
      expect(left[0]).toMatch(/\[\[EMAIL:\w{16}\]\]$/);
      expect(ADDRESSES.filter((one) => left[1]?.includes(one))).toEqual([]);
    }
  });

  it("leaves addresses that are nobody's", () => {
    const text = "0.0.0.0/0 ::/0 127.0.0.1:80 netmask 255.255.255.0, from 10.0.0.0/8 and 192.168.0.0/16";
    expect(createRedactor().tokenize(text, {})).toBe(text);
    expect(createRedactor().tokenize("10.1.0.0/16", {})).toMatch(/^\[\[IP:/);
  });

  it("holds lines back that may be the beginning of a known value", () => {
    const redactor = createRedactor();
    redactor.tokenize("ada.lovelace@example.com", {});
    const stream = redactor.openStream({});
    let shown = "";
    for (const sign of "to: ada.lovelace@example.com.") shown += stream.push(`${sign}\n`);
    // Five letters tell that a value has begun.
    expect((shown + stream.end()).replaceAll("\n", "")).toMatch(/^to: ada.?l?\[\[EMAIL:\w{16}\]\]\.$/);
    const other = redactor.openStream({});
    expect(other.push("ada lives\n")).toBe("ada lives\n");
    expect(other.push("ada.love\n") + other.push("is all\n")).toBe("ada.love\nis all\n");
  });

  it("knows a secret where it stands before the key that tells it", async () => {
    const data = { note: "login with Tr0ub4dor-77 now", account: { password: "Tr0ub4dor-77" } };
    const redactor = createRedactor();
    expect(JSON.stringify(redactor.tokenize(data, {}))).not.toContain("Tr0ub4dor");
    expect(JSON.stringify(await createRedactor().tokenizeInTurns?.(data, {}))).not.toContain("Tr0ub4dor");
    const others = {
      note: "came on 1987-05-17",
      ref: 99887766,
      password: 99887766,
      birth_date: "1987-05-17",
    };
    expect(JSON.stringify(createRedactor().tokenize(others, {}))).not.toMatch(/1987-05-17|99887766/);
  });

  it("knows the values of a schema by the name of what it describes", () => {
    const schema = {
      properties: { password: { default: "Tr0ub4dor-77" }, api_key: { enum: ["k9Xv27bQ81zz"] } },
    };
    expect(JSON.stringify(createRedactor().tokenize(schema, {}))).not.toMatch(/Tr0ub4dor|k9Xv27/);
    const plain = { properties: { password: { type: "string", default: "" }, token: { default: "none" } } };
    expect(createRedactor().tokenize(plain, {})).toBe(plain);
  });

  it("makes no token of one, not of one that only code wrote and not of another session's", () => {
    const redactor = createRedactor({ guest: "tokens" });
    const written = redactor.tokenize("DB_PASSWORD=Geheim-X9-77", { isOfCode: true });
    expect(written).toMatch(/^DB_PASSWORD=\[\[SECRET:\w{16}\]\]$/);
    expect(redactor.tokenize(written, {})).toBe(written);
    expect(createRedactor().tokenize(`id,${written}`, {})).toBe(`id,${written}`);
    expect(createRedactor().tokenize("id,[[SECRET:2db6dn7zywagsfnu]]", {})).toBe(
      "id,[[SECRET:2db6dn7zywagsfnu]]",
    );
  });

  it("reads a long text of values that are known in linear time", () => {
    const redactor = createRedactor();
    redactor.tokenize("ada@example.com", {});
    const text = "of ada@example.com, \n".repeat(40_000);
    const start = performance.now();
    expect(redactor.tokenize(text, {})).not.toContain("ada@");
    // It takes a fifth of a second. In quadratic time it was half a minute.
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it("replaces the beginning of a value at the end of a text that is cut", async () => {
    const redactor = createRedactor();
    redactor.tokenize("ada.lovelace@example.com", {});
    const text = `${"word ".repeat(2_000)}ada.lovelace@exam`;
    expect(await redactor.tokenizeInTurns?.(text, { isCut: true })).not.toContain("lovelace");
    expect(await redactor.tokenizeInTurns?.(text, {})).toContain("lovelace");
  });

  it("knows what a tool returned before", async () => {
    const redactor = createRedactor();
    const secret = "kX9mQ2vR7tLpW4zN";
    redactor.observe(
      { filler: "word ".repeat(3_000), rows: rows(500), password: secret },
      { server: "a", tool: "b" },
    );
    const text = `${"word ".repeat(2_000)} ${secret}`;
    expect(await redactor.tokenizeInTurns?.(text, {})).not.toContain(secret);
  });

  it("lets others have the thread in between", async () => {
    let turns = 0;
    const counting = setInterval(() => (turns += 1));
    await createRedactor().tokenizeInTurns?.(rows(5_000), {});
    clearInterval(counting);
    expect(turns).toBeGreaterThan(3);
  });
});

/** Half of it are the forms of phone numbers of all countries. */
const MAX_KIB_COMPRESSED = 84;

// Counts bytes, and faults that are put in add some.
describe.skipIf(process.env["CEM_MUTATION"])("@cem/pii in a browser", () => {
  it("is bundled without anything of Node, in few bytes, and works", async () => {
    const { outputFiles, warnings } = await build({
      stdin: {
        contents: `import { createRedactor } from "./index.ts"; globalThis.shown = createRedactor().tokenize("call +1 415 555 2671 or a@example.com", {});`,
        resolveDir: fileURLToPath(new URL(".", import.meta.url)),
      },
      bundle: true,
      minify: true,
      write: false,
      format: "iife",
      platform: "browser",
      conditions: ["@cem/source"],
      // A thread for large files, which only Node has.
      define: { "import.meta.url": '""' },
    });
    const code = outputFiles[0]?.text ?? "";
    expect(warnings).toEqual([]);
    expect(gzipSync(code).length / 1024).toBeLessThan(MAX_KIB_COMPRESSED);
    const context: { shown?: string; crypto: typeof globalThis.crypto } = { crypto: globalThis.crypto };
    runInNewContext(code, context);
    expect(context.shown).toMatch(/^call \[\[PHONE:[a-z2-7]{16}\]\] or \[\[EMAIL:[a-z2-7]{16}\]\]$/);
  });
});
