// Times texts of many kinds through search, rules and review.
import { createSelector } from "@cem/selector";
import { createRulesGenerator } from "@cem/codegen/rules";
import { createDiscovery } from "@cem/discovery";
const which = process.argv[2] ?? "search";
const only = process.argv[3];
const sizes = [5_000, 10_000, 20_000, 40_000];
const rep = (s: string) => (n: number) => s.repeat(Math.ceil(n / s.length)).slice(0, n);
const kinds: Record<string, (n: number) => string> = {
  dots: rep("."),
  spaces: rep(" "),
  tabs: rep("\t"),
  newlines: rep("\n"),
  crlf: rep("\r\n"),
  commas: rep(","),
  commaspace: rep(", "),
  semis: rep(";"),
  bang: rep("!"),
  question: rep("?"),
  open: rep("("),
  close: rep(")"),
  parens: rep("()"),
  square: rep("["),
  curly: rep("{"),
  angle: rep("<"),
  quotes: rep('"'),
  apos: rep("'"),
  backtick: rep("`"),
  curlyq: rep("“"),
  cjk: rep("天気予報を東京で調べて"),
  hangul: rep("서울의날씨를알려줘"),
  cjkone: rep("漢"),
  emoji: rep("🌦️👨‍👩‍👧"),
  combining: rep("e\u0301\u0308\u0327"),
  marks: (n) => "a" + "\u0301".repeat(n - 1),
  zwj: rep("\u200d"),
  rtl: rep("\u202eمرحبا "),
  word: rep("a"),
  upper: rep("A"),
  camel: rep("aB"),
  digits: rep("1"),
  digitdot: rep("1."),
  digitcomma: rep("1,"),
  hyphen: rep("a-"),
  under: rep("a_"),
  slash: rep("/"),
  slashes: rep("a/"),
  dotword: rep("a."),
  at: rep("a@"),
  ats: rep("@"),
  hash: rep("#"),
  plus: rep("1+"),
  minus: rep("-"),
  ops: rep("1 + 2 * 3 - "),
  equals: rep("="),
  eqwords: rep("a=b "),
  then: rep("and then "),
  thenadd: rep("add 1 and 2 and then "),
  words: rep("weather in paris "),
  random: (n) => {
    let s = "";
    let x = 7;
    while (s.length < n) {
      x = (x * 1103515245 + 12345) % 2147483648;
      s += String.fromCharCode(97 + (x % 26)) + ((x >> 8) % 5 === 0 ? " " : "");
    }
    return s.slice(0, n);
  },
  unique: (n) => {
    let s = "";
    for (let i = 0; s.length < n; i++) s += `word${i} `;
    return s.slice(0, n);
  },
  steps: (n) => {
    let s = "";
    for (let i = 1; s.length < n; i++) s += `${i}. add ${i} and ${i + 1}\n`;
    return s.slice(0, n);
  },
  select: rep("select a from b "),
  selectupper: rep("SELECT "),
  ifs: rep("if a then b else c "),
  foreach: rep("for each of the cities "),
  the: rep("the "),
  ofthe: rep("of the "),
  fora: rep("for a "),
  inx: rep("in X "),
  caps: rep("New York "),
  json: rep('{"a":1},'),
  deepjson: (n) => "[".repeat(n / 2) + "]".repeat(n / 2),
  deepcurly: (n) => '{"a":'.repeat(n / 6) + "1" + "}".repeat(n / 6),
  url: rep("http://a.b/c "),
  urlone: (n) => "http://" + "a".repeat(n - 7),
  mail: rep("a@b.c "),
  file: rep("file.txt "),
  path: (n) => "/" + "a/".repeat(n / 2),
  table: rep("tables "),
  all: rep("all each every "),
  please: rep(" please"),
  colon: rep("a: b\n"),
  bullets: rep("- a\n"),
  dashes: rep("—"),
  percent: rep("5% of "),
  quotedwords: rep('"a" '),
  oddquotes: rep("it's "),
  nbsp: rep("\u00a0"),
  lone: rep("\ud800"),
  nul: rep("\0"),
  mixed: rep('Get "x", then (save) it; to a.json! 5+3 天気 é '),
};
const catalog = await createDiscovery({
  serversDir: "/tmp/wt/flood/servers",
  skillsDir: "/nonexistent",
}).list();
const tools = catalog.servers.flatMap((s) => s.tools);
const selector = createSelector();
const rules = createRulesGenerator();
const run: Record<string, (t: string) => Promise<unknown>> = {
  search: (t) => selector.search({ task: t, tools }),
  select: (t) => selector.select({ task: t, tools }),
  rules: (t) => rules.generate({ task: t, tools }),
};
await run[which]!("weather in Paris");
for (const [name, make] of Object.entries(kinds)) {
  if (only && name !== only) continue;
  const times: number[] = [];
  for (const n of sizes) {
    const text = make(n);
    const t = performance.now();
    try {
      await run[which]!(text);
    } catch (e) {
      times.push(-1);
      console.log("THREW", name, String(e).slice(0, 100));
      continue;
    }
    times.push(performance.now() - t);
    if (times.at(-1)! > 20_000) break;
  }
  const last = times.at(-1)!;
  const flag =
    last > 60 ? (times.length > 2 && last / times.at(-3)! > 6 ? "  <<< superlinear" : "  < slow") : "";
  if (flag || only)
    console.log(which.padEnd(7), name.padEnd(12), times.map((t) => t.toFixed(0).padStart(7)).join(""), flag);
}
