import { before, endsWith, findAll, isWordBefore, standsAlone, withoutEnding, wordSet } from "../context.ts";
import type { Detector, Finding } from "../context.ts";

/** Plain and URL-encoded. */
const SIGNS = ["@", "%40"];
const MAX_LOCAL_CHARACTERS = 64;
const MAX_DOMAIN_CHARACTERS = 253;
const LOCAL = charactersOf(/[\p{L}\p{N}\p{M}._%+'’~-]/u);
const DOMAIN = charactersOf(/[\p{L}\p{N}\p{M}.-]/u);
const ASCII_DOMAIN_NAME =
  /^(?:[a-zA-Z\d](?:[a-zA-Z\d-]{0,61}[a-zA-Z\d])?\.){1,8}(?:[a-zA-Z]{2,63}|xn--[a-zA-Z\d-]{1,59})$/;
const DOMAIN_NAME =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?\.){1,8}(?:\p{L}[\p{L}\p{M}]{1,62}|xn--[a-z\d-]{1,59})$/iu;
const NOT_ASCII = /\P{ASCII}/u;
/** Text joined to an address: escapes, or words of scripts that put no space around Latin letters. */
const JOINED_BEFORE =
  /^.*(?:%(?:25)?(?:0[9AD]|2[0268C]|3[A-F]|5B|7[BC])|[\p{sc=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Hebr}\p{sc=Arab}])/isu;
const UNTIL_JOINED =
  /^[a-z\d.-]+(?=[\p{sc=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Hebr}\p{sc=Arab}])/iu;
/** After a backslash. */
const ESCAPE = /^(?:[nrt]|u[\da-fA-F]{4}|x[\da-fA-F]{2})/;
/** The beginning of a string literal in Python or SQL: `b'`, `N'`. */
const LITERAL = /^(?:[bfrune]|[bf]r|r[bf])'/i;
/** The scale of an image, as in `logo@2x.min.png`. */
const SCALE = /^\d+x\./iu;
/** File extensions. */
const FILE_ENDING = /\.(?:png|jpe?g|gif|svg|webp|css|m?js|json|tsx?|woff2?|pdf|tgz|zip)$/i;

const MAX_SCHEME_CHARACTERS = 40;
/** The beginning of a machine's URL, in which a user name precedes the host. */
const MACHINE_ADDRESS =
  /(?:https?|wss?|s?ftps?|ssh|git|svn|hg|rsync|scp|smb|nfs|vnc|rdp|telnet|ldaps?|smtps?|imaps?|pop3s?|tcp|udp|socks\d?|postgres(?:ql)?|mysql|mariadb|mssql|mongodb|rediss?|amqps?|mqtts?|nats|kafka|clickhouse)(?:\+[a-z\d]{1,16})?:\/\/$/i;

/** Finds email addresses. */
export const emailDetector: Detector = {
  find(text) {
    const found: Finding[] = [];
    for (const sign of SIGNS) {
      for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + sign.length)) {
        const start = localStart(text, at, found.at(-1)?.end);
        if (start === at) continue;
        const domain = domainIn(text.slice(at + sign.length, domainEnd(text, at + sign.length)));
        const end = at + sign.length + (domain?.length ?? 0);
        if (domain === undefined || isLocation(text, start, end)) continue;
        const isQuoted = text[end] === "'" && text[start - 1] !== "'";
        const isMarked = text[start] === "_" && text[end] === "_";
        const lead = isQuoted ? lengthOf(LITERAL, text.slice(start, at)) : Number(isMarked);
        found.push({ start: start + lead, end, type: "EMAIL" });
      }
    }
    return found;
  },
};

/** Creates a test for a character class, with a table for ASCII. */
function charactersOf(pattern: RegExp): (character: string) => boolean {
  const ascii = Array.from({ length: 128 }, (_, code) => pattern.test(String.fromCharCode(code)));
  return (character) => ascii[character.charCodeAt(0)] ?? pattern.test(character);
}

/** The longest prefix that is a domain name, since joined text may be part of a name or a file extension. */
function domainIn(text: string): string | undefined {
  const latin = text.slice(0, lengthOf(UNTIL_JOINED, text));
  if (ASCII_DOMAIN_NAME.test(latin)) return latin;
  if (FILE_ENDING.test(text) && SCALE.test(text)) return undefined;
  let domain = text.replace(FILE_ENDING, "");
  const isName = (): boolean =>
    ASCII_DOMAIN_NAME.test(domain) || (NOT_ASCII.test(domain) && DOMAIN_NAME.test(domain));
  while (domain !== "" && !isName())
    domain = domain.slice(0, Math.max(0, domain.lastIndexOf("-"), domain.lastIndexOf(".")));
  return domain === "" ? undefined : domain;
}

/** @param after - The end of the previous address, to which it may be joined. */
function localStart(text: string, at: number, after = 0): number {
  let start = at;
  const least = Math.max(after, at - MAX_LOCAL_CHARACTERS);
  while (start > least && LOCAL(characterBefore(text, start))) start -= characterBefore(text, start).length;
  if (text[start - 1] === "\\") start += lengthOf(ESCAPE, text.slice(start, at));
  const joined = lengthOf(JOINED_BEFORE, text.slice(start, at));
  if (start + joined < at) start += joined;
  while (start < at && ".'’~%-".includes(text[start] ?? "")) start += 1;
  return text[at - 1] === "." ? at : start;
}

function lengthOf(pattern: RegExp, text: string): number {
  return pattern.exec(text)?.[0].length ?? 0;
}

function domainEnd(text: string, start: number): number {
  let end = start;
  const most = Math.min(text.length, start + MAX_DOMAIN_CHARACTERS);
  while (end < most) {
    const character = String.fromCodePoint(text.codePointAt(end) ?? 0);
    if (!DOMAIN(character)) break;
    end += character.length;
  }
  while (end > start && ".-".includes(text[end - 1] ?? "")) end -= 1;
  return end;
}

function characterBefore(text: string, index: number): string {
  const low = text.charCodeAt(index - 1);
  const isPair = low >= 0xdc00 && low <= 0xdfff && index > 1;
  return isPair ? text.slice(index - 2, index) : (text[index - 1] ?? "");
}

/** Whether it is a location on a machine, as in `git@github.com:org/repo.git` and `ssh://me@host.org`. */
function isLocation(text: string, start: number, end: number): boolean {
  if (start > 0 && text[start - 1] === "@") return true;
  if (start > 0 && MACHINE_ADDRESS.test(text.slice(Math.max(0, start - MAX_SCHEME_CHARACTERS), start)))
    return true;
  return text[end] === ":" && /^:[a-z~][\w.~-]*\//i.test(text.slice(end, end + 64));
}

const V4 = /\d{1,3}(?:\.\d{1,3}){3}/g;
const OCTETS = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}$/;
/** Words before four dotted numbers that are not an address. */
const NUMBERED = wordSet(
  `v ver vers version versions release released section sections sect sec chapter chapters clause clauses paragraph appendix
  figure fig table firmware tag checkout releasenotes
  build builds upgrade upgraded update updated downgrade downgraded bumped edition assemblyversion fileversion oid rev revision sdk
  assembly driver openjdk jdk chrome firefox safari edge electron reader bios patch patched iec iso rfc wbs requirement requirements req enzyme kapitel abschnitt chapitre capítulo capitulo capitolo sezione
  sección seção hoofdstuk paragraaf rozdział § versión versione versão versie wersja wersji verze verzió sürüm версия версии έκδοση
  fassung バージョン 版本 版本号 버전 إصدار גרסה`,
);
/** The same if all four are small, as in chapter and step numbers. */
const LISTED = wordSet(
  `step task level position see siehe nr item annex spec theorem lemma corollary definition proposition rule regel règle regla
  regra regola article artikel artículo articolo artigo п пункт`,
);
const LOW = /^(?!10\.)(?:[12]?\d(?:\.|$)){4}$/;
/** Versions never begin this high, whatever precedes them. */
const HIGH = /^(?:17[2-9]|1[89]\d|2\d\d)\./;
/** Further addresses before it, in a list. */
const OTHERS = /(?:\d{1,3}(?:\.\d{1,3}){3}(?:,|\/| and| or) ?){1,3}$/;
/** The text up to a previous number, which has its own word. */
const NUMBER_BEFORE = /^.*\d/s;
/** Another chapter or version number. */
const THREE_NUMBERS = /(?<![\d.])\d{1,2}\.\d{1,2}\.\d{1,2}(?![\d.])/;
const LOW_BEGINNING = /^(?!10\.)(?:[12]?\d\.){2}/;
const HEADING = /(?:^|\n)[ \t]{0,16}#\.? +\p{Lu}/u;
/** A version in a list. Clouds have many addresses that begin low: `bob (23.20.1.7)`. */
const LOW_VERSION = /^\d\.(?:[12]?\d(?:\.|$)){3}$/;
/** A line of a list of packages or of release notes. Lists of users and machines look like this, too. */
const LISTED_PACKAGE = /(?:^|\n)(?:[ \t]{0,8}[\w-]{1,32} \(#[,)]|[*-] # - \d{4}-)/;
/** Matches a version, with a number sign in place of the four numbers. */
const VERSION =
  /(?:[<>~]=|~>|\(=)\s?#|gem ["'][\w-]{1,40}["'], ["']#|["'][~^]=?#|e\.c\. #|# (?:release|is (?:the |our )?(?:latest|last|newest|current) (?:lts |stable |supported )?(?:version|release|build)|for (?:windows|mac|linux|android))|[\w) ]\\{1,2}#\\{1,2}[\w.-]{1,40}\.(?:exe|dll|msi)/i;
/** A package and its version, an image of a container and its tag, a program, or release notes after a date. */
const PACKAGE =
  /\w\.[\w-]{1,40}:(?:[a-z][\w.-]{0,40}:){1,3}#|\.jar:#|(?<!\w)ec #|(?:bump|upgrad)\w{2,3} (?:\S{1,40} )?(?:from (?:[\d.]{7,15} to )?|to )#|pkg:[\w/.-]{1,40}@#|[\w-]=#-\d{1,2}(?![\d.])|[\w.-]\/[\w-]{1,40}:#|# \((?:32|64)-bit|(?:^|\n)[*-] # - \d{4}-\d\d-\d\d - /;
/** A host name before its address, as in Java: `db.example.com/10.1.2.3`. */
const MACHINE_BEFORE = /(?<![\w.:/@-])(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\/$/i;
const MAX_MACHINE_CHARACTERS = 80;
/** The port of a packet's sender or receiver in `tcpdump` format. */
const SENDER_PORT = /^\.\d{1,5} > \d/;
const RECEIVER_PORT = /^\.\d{1,5}(?![\d.])/;
/** A step in code: `rows[::2]`, `rows[100::2]`, `rows[:, ::2]`. */
const STEP = /^\d{0,4}::\d{0,4}$/;
const SUBSCRIPT = /[\w)\]"']\[[\w:, .-]{0,40}$/;
const ANY_ADDRESS = wordSet("ip ipv address addr listen listening bind host");
const V6_CHARACTERS = "0123456789abcdefABCDEF:.";
const MAX_V6_CHARACTERS = 45;

/** Finds IPv4 and IPv6 addresses, including a network prefix length. */
export const ipDetector: Detector = {
  find(text, key) {
    return [...(text.includes(":") ? findV6(text, key) : []), ...findV4(text, key)];
  },
};

function findV4(text: string, key: string | undefined): Finding[] {
  const found: Finding[] = [];
  for (const { 0: match, index: start } of text.matchAll(V4)) {
    const end = start + match.length;
    if (!OCTETS.test(match)) continue;
    if (touchesBefore(text, start, end) && !isTold(text, start, end, found.at(-1)?.end)) continue;
    const next = text.slice(end, end + 10);
    const goesOn =
      /^[\w]|^\.\d|^[-+][a-z]/i.test(next) && !(next[0] === "_" && mayBeMarked(text, start, end));
    if (goesOn && !isOfPacket(text, start, next)) continue;
    if (isNumbered(match, before(text, start, key)) || isVersion(text, start, end)) continue;
    found.push({ start, end: end + networkLength(text, end, 32), type: "IP" });
  }
  return found;
}

/** Whether the text joined to an address confirms it: the beginning of a range, or a host name. */
function isTold(text: string, start: number, end: number, before: number | undefined): boolean {
  if (text[start - 1] === "-") return before === start - 1;
  if (text[start - 1] !== "/") return false;
  return (
    /^(?::\d|\(\d{1,5}\))/.test(text.slice(end, end + 7)) ||
    MACHINE_BEFORE.test(text.slice(Math.max(0, start - MAX_MACHINE_CHARACTERS), start))
  );
}

function isOfPacket(text: string, start: number, next: string): boolean {
  return SENDER_PORT.test(next) || (text.startsWith(" > ", start - 3) && RECEIVER_PORT.test(next));
}

/** Whether a word says that four numbers are not an address. A word with its own number does not count. */
function isNumbered(address: string, words: string): boolean {
  if (HIGH.test(address)) return false;
  const first = words.replace(OTHERS, "");
  return endsWith(LOW.test(address) ? first : first.replace(NUMBER_BEFORE, ""), NUMBERED);
}

/** Whether four numbers are a version or a chapter number. */
function isVersion(text: string, start: number, end: number): boolean {
  const address = text.slice(start, end);
  // No machine has such an address, except the wildcard. A range from it is a version range.
  if (address.startsWith("0.") && (address !== "0.0.0.0" || text[end] === "-")) return true;
  const words = before(text, start);
  const around = `${words}#${text.slice(end, end + 40)}`;
  return (
    VERSION.test(around) ||
    (LOW_BEGINNING.test(address) && PACKAGE.test(around)) ||
    (LOW_VERSION.test(address) && LISTED_PACKAGE.test(around)) ||
    (LOW.test(address) && (endsWith(words, LISTED) || HEADING.test(around) || THREE_NUMBERS.test(around)))
  );
}

/**
 * Whether a symbol next to an address may be markup or part of a name: `backup_10.1.2.3_full.tgz`. Versions rarely begin like this.
 */
function mayBeMarked(text: string, start: number, end: number): boolean {
  if (HIGH.test(text.slice(start, end)) || text.startsWith("10.", start)) return true;
  return text[start - 1] === "_" && text[end] === "_" && !isWordBefore(text, start - 1);
}

function touchesBefore(text: string, start: number, end: number): boolean {
  if (isWordBefore(text, start)) return true;
  const nearby = text.slice(Math.max(0, start - 8), start);
  if (/_$|\p{L}-$/u.test(nearby) && mayBeMarked(text, start, end)) return false;
  return /(?<!(?<!\p{L})(?:ip|host|addr|src|dst))(?:_|==)$|[\p{L}\d][./-]$|(?:^|\n)#{1,6} $/iu.test(nearby);
}

function findV6(text: string, key: string | undefined): Finding[] {
  const found: Finding[] = [];
  for (const { run, index } of v6Runs(text)) {
    if (run.length > MAX_V6_CHARACTERS + 2) continue;
    const isInWord = /\p{L}$/u.test(text.slice(Math.max(0, index - 1), index));
    // The end of a word does not belong to it: `ip6:2001:db8::1`.
    const ofWord = isInWord ? (/^(?:\d|[a-f]{1,4}):(?!:)/i.exec(run)?.[0].length ?? 0) : 0;
    const leading = ofWord === 0 && (run.startsWith(".") || /^:[^:]/.test(run)) ? 1 : ofWord;
    const address = withoutPunctuation(run.slice(leading));
    const start = index + leading;
    let end = start + address.length;
    if (address === "::" && !isAny(text, start, key)) continue;
    if (STEP.test(address) && SUBSCRIPT.test(text.slice(Math.max(0, start - 48), start))) continue;
    if (!isV6(address) || touchesBefore(text, start, end)) continue;
    if (!standsAlone(text, start, end) || (text[end] === "_" && !mayBeMarked(text, start, end))) continue;
    const zone = /^%[\w.-]{1,16}/.exec(text.slice(end, end + 17));
    end += zone?.[0].length ?? 0;
    found.push({ start, end: end + networkLength(text, end, 128), type: "IP" });
  }
  return found;
}

/** Runs of IPv6 characters with at least two colons. */
function v6Runs(text: string): { run: string; index: number }[] {
  const runs: { run: string; index: number }[] = [];
  let end = 0;
  for (let at = text.indexOf(":"); at !== -1; at = text.indexOf(":", end)) {
    let index = at;
    while (index > end && V6_CHARACTERS.includes(text[index - 1] ?? " ")) index -= 1;
    end = at + 1;
    while (end < text.length && V6_CHARACTERS.includes(text[end] ?? " ")) end += 1;
    const run = text.slice(index, end);
    if (run.indexOf(":") !== run.lastIndexOf(":")) runs.push({ run, index });
  }
  return runs;
}

/** Removes trailing punctuation, and a port of five digits as in `netstat`. */
function withoutPunctuation(run: string): string {
  const address = withoutEnding(run, ".").replace(/:\d{5}$/, "");
  return address.endsWith(":") && !address.endsWith("::") ? address.slice(0, -1) : address;
}

/** Whether a text is an IPv6 address (RFC 4291), and neither a name such as `a::b` nor a hardware identifier. */
function isV6(address: string): boolean {
  const halves = address.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1) ?? "";
  const hasV4 = last.includes(".");
  if (hasV4 && !OCTETS.test(last)) return false;
  const words = hasV4 ? groups.slice(0, -1) : groups;
  if (!words.every((word) => /^[\da-f]{1,4}$/i.test(word))) return false;
  const count = words.length + (hasV4 ? 2 : 0);
  // Times and ratios: `09:00::17:00`.
  if (words.length > 1 && !hasV4 && words.every((word) => /^\d{1,2}$/.test(word))) return false;
  if (halves.length === 1) return count === 8 && !words.every((word) => word.length === 2);
  return count < 8 && (address === "::" || count > 3 || /\d/.test(address));
}

/** Whether `::` is the wildcard address rather than a separator between names. */
function isAny(text: string, start: number, key: string | undefined): boolean {
  if (text.trim() === "::" || text.startsWith("/0", start + 2)) return true;
  return (
    endsWith(before(text, start, key), ANY_ADDRESS) &&
    /^[\s"',;)\]]|^$/.test(text.slice(start + 2, start + 3))
  );
}

/** The number of characters of a prefix length after an address. A higher number is a port: `203.0.113.7/443`. */
function networkLength(text: string, end: number, most: number): number {
  const [suffix = "", length] = /^\/(\d{1,3})(?![\w/-]|\.\w)/.exec(text.slice(end, end + 6)) ?? [];
  return Number(length) <= most ? suffix.length : 0;
}

/** Finds MAC addresses. */
export const macDetector: Detector = {
  find: (text) =>
    findAll(text, /(?<![\w:-])[\da-f]{2}([:-])(?:[\da-f]{2}\1){4}[\da-f]{2}(?![\w:-])/gi, "MAC"),
};

/** Finds Ethereum addresses, and Bitcoin addresses in the current (bech32) format. */
export const cryptoAddressDetector: Detector = {
  find: (text) =>
    findAll(text, /(?<!\w)(?:0x[\da-f]{40}|bc1[ac-hj-np-z02-9]{11,71})(?!\w)/gi, "CRYPTO_ADDRESS"),
};
