import { before, endsWith, findAll, isEscape, isWordBefore, withoutEnding, wordSet } from "../context.ts";
import type { Detector, Finding } from "../context.ts";

/** As it is, and as it is written in addresses of pages. */
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
/** The scale of an image, as in `logo@2x.min.png`. */
const SCALE = /^\d+x\./iu;
/** Endings of files. */
const FILE_ENDING = /\.(?:png|jpe?g|gif|svg|webp|css|m?js|json|tsx?|woff2?|pdf|tgz|zip)$/i;

const MAX_SCHEME_CHARACTERS = 40;
/** The beginning of an address of a machine, where a user's name stands before the machine's. */
const MACHINE_ADDRESS =
  /(?:https?|wss?|s?ftps?|ssh|git|svn|hg|rsync|scp|smb|nfs|vnc|rdp|telnet|ldaps?|smtps?|imaps?|pop3s?|tcp|udp|socks\d?|postgres(?:ql)?|mysql|mariadb|mssql|mongodb|rediss?|amqps?|mqtts?|nats|kafka|clickhouse)(?:\+[a-z\d]{1,16})?:\/\/$/i;

/** Finds addresses of email. */
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
        found.push({ start, end, type: "EMAIL" });
      }
    }
    return found;
  },
};

/** Whether a character is one of a class, by a table for those of ASCII. */
function charactersOf(pattern: RegExp): (character: string) => boolean {
  const ascii = Array.from({ length: 128 }, (_, code) => pattern.test(String.fromCharCode(code)));
  return (character) => ascii[character.charCodeAt(0)] ?? pattern.test(character);
}

/** The longest beginning that is the name of a domain: what is written on may be a part of a name, or the ending of a file. */
function domainIn(text: string): string | undefined {
  if (FILE_ENDING.test(text) && SCALE.test(text)) return undefined;
  let domain = text.replace(FILE_ENDING, "");
  const isName = (): boolean =>
    ASCII_DOMAIN_NAME.test(domain) || (NOT_ASCII.test(domain) && DOMAIN_NAME.test(domain));
  while (domain !== "" && !isName())
    domain = domain.slice(0, Math.max(0, domain.lastIndexOf("-"), domain.lastIndexOf(".")));
  return domain === "" ? undefined : domain;
}

/** @param after - The end of the address before it, to which it may be joined. */
function localStart(text: string, at: number, after = 0): number {
  let start = at;
  const least = Math.max(after, at - MAX_LOCAL_CHARACTERS);
  while (start > least && LOCAL(characterBefore(text, start))) start -= characterBefore(text, start).length;
  if (start < at && isEscape(text, start)) start += 1;
  while (start < at && ".'’~%-".includes(text[start] ?? "")) start += 1;
  return text[at - 1] === "." ? at : start;
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

/** Whether a place on a machine is meant, as in `git@github.com:org/repo.git` and `ssh://me@host.org`. */
function isLocation(text: string, start: number, end: number): boolean {
  if (start > 0 && text[start - 1] === "@") return true;
  if (start > 0 && MACHINE_ADDRESS.test(text.slice(Math.max(0, start - MAX_SCHEME_CHARACTERS), start)))
    return true;
  return text[end] === ":" && /^:[a-z~][\w.~-]*\//i.test(text.slice(end, end + 64));
}

const V4 = /\d{1,3}(?:\.\d{1,3}){3}/g;
const OCTETS = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}$/;
/** Words before four numbers with dots that are no address. */
const NUMBERED = wordSet(
  `v ver vers version versions release released section sect sec chapter clause paragraph appendix figure table firmware
  build builds upgrade upgraded update updated downgrade downgraded bumped edition assemblyversion fileversion oid rev revision sdk
  assembly driver chrome firefox safari edge electron reader bios patch patched iec iso rfc wbs requirement requirements req enzyme kapitel abschnitt chapitre capítulo capitulo capitolo sezione
  sección seção hoofdstuk paragraaf rozdział § versión versione versão versie wersja wersji verze verzió sürüm версия версии έκδοση
  fassung バージョン 版本 版本号 버전 إصدار גרסה`,
);
/** The same, where all four are low, as numbers of chapters and steps are. */
const LISTED = wordSet("step task level position see siehe nr item annex spec ec п пункт");
const LOW = /^(?!10\.)(?:[12]?\d(?:\.|$)){4}$/;
/** No version begins so high, whatever stands before it. */
const HIGH = /^(?:17[2-9]|1[89]\d|2\d\d)\./;
/** Further ones before it, in a list. */
const OTHERS = /(?:\d{1,3}(?:\.\d{1,3}){3}(?:,|\/| and| or) ?){1,3}$/;
/** A number with a word of its own, up to that number. */
const NUMBER_BEFORE = /^.*\d/s;
/** The number of another chapter or version. */
const THREE_NUMBERS = /(?<![\d.])\d{1,2}\.\d{1,2}\.\d{1,2}(?![\d.])/;
const LOW_BEGINNING = /^(?!10\.)(?:[12]?\d\.){2}/;
const HEADING = /(?:^|\n)[ \t]{0,16}#\.? +\p{Lu}/u;
/** With a number sign in the place of the four numbers. */
const VERSION =
  /[<>~]=\s?#|["'][~^]=?#|e\.c\. #|# (?:release|is (?:the |our )?(?:latest|newest|current) (?:version|release|build)|for (?:windows|mac|linux|android))/i;
/** A package and its version, or an image of a container and its tag. */
const PACKAGE = /[\w-]=#-\d{1,2}(?![\d.])|[\w.-]\/[\w-]{1,40}:#/;
/** The name of a machine before its address, as Java writes it: `db.example.com/10.1.2.3`. */
const MACHINE_BEFORE = /(?<![\w.:/@-])(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\/$/i;
const MAX_MACHINE_CHARACTERS = 80;
/** The port of a packet's sender, as `tcpdump` writes it, or of its receiver. */
const SENDER_PORT = /^\.\d{1,5} > \d/;
const RECEIVER_PORT = /^\.\d{1,5}(?![\d.])/;
/** A step in code: `rows[::2]`, `rows[100::2]`, `rows[:, ::2]`. */
const STEP = /^\d{0,4}::\d{0,4}$/;
const SUBSCRIPT = /[\w)\]"']\[[\w:, .-]{0,40}$/;
const ANY_ADDRESS = wordSet("ip ipv address addr listen listening bind host");
const V6_CHARACTERS = "0123456789abcdefABCDEF:.";
const MAX_V6_CHARACTERS = 45;

/** Finds addresses of the internet protocol, versions 4 and 6, with the length of a network where one follows. */
export const ipDetector: Detector = {
  find(text, key) {
    return [...(text.includes(":") ? findV6(text, key) : []), ...findV4(text, key)];
  },
};

function findV4(text: string, key: string | undefined): Finding[] {
  const found: Finding[] = [];
  for (const { 0: match, index: start } of text.matchAll(V4)) {
    let end = start + match.length;
    if (!OCTETS.test(match)) continue;
    if (touchesBefore(text, start, end) && !isTold(text, start, end, found.at(-1)?.end)) continue;
    const next = text.slice(end, end + 10);
    const goesOn =
      /^[\w]|^\.\d|^[-+][a-z]/i.test(next) && !(next[0] === "_" && mayBeMarked(text, start, end));
    if (goesOn && !isOfPacket(text, start, next)) continue;
    if (isNumbered(match, before(text, start, key)) || isVersion(text, start, end)) continue;
    const length = networkLength(text, end, 32);
    if (length === undefined) continue;
    end += length;
    found.push({ start, end, type: "IP" });
  }
  return found;
}

/** Whether what an address is joined to tells it: the beginning of its range, or the name of its machine. */
function isTold(text: string, start: number, end: number, before: number | undefined): boolean {
  if (text[start - 1] === "-") return before === start - 1;
  if (text[start - 1] !== "/") return false;
  return (
    /:\d/.test(text.slice(end, end + 2)) ||
    MACHINE_BEFORE.test(text.slice(Math.max(0, start - MAX_MACHINE_CHARACTERS), start))
  );
}

function isOfPacket(text: string, start: number, next: string): boolean {
  return SENDER_PORT.test(next) || (text.startsWith(" > ", start - 3) && RECEIVER_PORT.test(next));
}

/** Whether a word says that four numbers are no address. One that has a number of its own says nothing of what follows. */
function isNumbered(address: string, words: string): boolean {
  if (HIGH.test(address)) return false;
  return endsWith(LOW.test(address) ? words : words.replace(OTHERS, "").replace(NUMBER_BEFORE, ""), NUMBERED);
}

/** Whether four numbers are a version, or the number of a chapter. */
function isVersion(text: string, start: number, end: number): boolean {
  const address = text.slice(start, end);
  // No machine has one of these, but for the one that means any. A range from there is one of versions.
  if (address.startsWith("0.") && (address !== "0.0.0.0" || text[end] === "-")) return true;
  const words = before(text, start);
  const around = `${words}#${text.slice(end, end + 40)}`;
  return (
    VERSION.test(around) ||
    (LOW_BEGINNING.test(address) && PACKAGE.test(around)) ||
    (LOW.test(address) && (endsWith(words, LISTED) || HEADING.test(around) || THREE_NUMBERS.test(around)))
  );
}

/** Whether a sign beside an address may be that of italics, or of a name: `backup_10.1.2.3_full.tgz`. Versions seldom begin so. */
function mayBeMarked(text: string, start: number, end: number): boolean {
  if (HIGH.test(text.slice(start, end)) || text.startsWith("10.", start)) return true;
  return text[start - 1] === "_" && text[end] === "_" && !isWordBefore(text, start - 1);
}

function touchesBefore(text: string, start: number, end: number): boolean {
  if (start === 0 || isEscape(text, start - 1)) return false;
  const nearby = text.slice(Math.max(0, start - 8), start);
  if (/_$|\p{L}-$/u.test(nearby) && mayBeMarked(text, start, end)) return false;
  return /(?!\p{sc=Han}|\p{sc=Hira}|\p{sc=Kana})[\p{L}\d]$|(?<!(?<!\p{L})(?:ip|host|addr|src|dst))(?:_|==)$|[\p{L}\d][./-]$|(?:^|\n)#{1,6} $/iu.test(
    nearby,
  );
}

function findV6(text: string, key: string | undefined): Finding[] {
  const found: Finding[] = [];
  for (const { run, index } of v6Runs(text)) {
    if (run.length > MAX_V6_CHARACTERS + 2) continue;
    const isInWord = /\p{L}$/u.test(text.slice(Math.max(0, index - 1), index));
    // The end of a word is none of it: `ip6:2001:db8::1`.
    const ofWord = isInWord ? (/^(?:\d|[a-f]{1,4}):(?!:)/i.exec(run)?.[0].length ?? 0) : 0;
    const leading = ofWord === 0 && (run.startsWith(".") || /^:[^:]/.test(run)) ? 1 : ofWord;
    const address = withoutPunctuation(run.slice(leading));
    const start = index + leading;
    let end = start + address.length;
    if (address === "::" && !isAny(text, start, key)) continue;
    if (STEP.test(address) && SUBSCRIPT.test(text.slice(Math.max(0, start - 48), start))) continue;
    if (!isV6(address) || touchesBefore(text, start, end)) continue;
    if (/[\p{L}\d]/u.test(text[end] ?? "") || (text[end] === "_" && !mayBeMarked(text, start, end))) continue;
    const zone = /^%[\w.-]{1,16}/.exec(text.slice(end, end + 17));
    end += zone?.[0].length ?? 0;
    const length = networkLength(text, end, 128);
    if (length === undefined) continue;
    end += length;
    found.push({ start, end, type: "IP" });
  }
  return found;
}

/** Runs of characters of such an address that have at least two colons. */
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

/** Without what ends a sentence or a clause. */
function withoutPunctuation(run: string): string {
  const address = withoutEnding(run, ".");
  return address.endsWith(":") && !address.endsWith("::") ? address.slice(0, -1) : address;
}

/** Whether a text is an address of version 6 (RFC 4291), and neither a name such as `a::b` nor an identifier of hardware. */
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

/** Whether `::` is the address that means any, and not a mark between two names. */
function isAny(text: string, start: number, key: string | undefined): boolean {
  if (text.trim() === "::" || text.startsWith("/0", start + 2)) return true;
  return (
    endsWith(before(text, start, key), ANY_ADDRESS) &&
    /^[\s"',;)\]]|^$/.test(text.slice(start + 2, start + 3))
  );
}

/** How long the length of a network after an address is; `undefined` where no network has it. */
function networkLength(text: string, end: number, most: number): number | undefined {
  const match = /^\/(\d{1,3})(?![\w/-]|\.\w)/.exec(text.slice(end, end + 6));
  if (match === null) return 0;
  return Number(match[1]) <= most ? match[0].length : undefined;
}

/** Finds the addresses of network devices. */
export const macDetector: Detector = {
  find: (text) =>
    findAll(text, /(?<![\w:-])[\da-f]{2}([:-])(?:[\da-f]{2}\1){4}[\da-f]{2}(?![\w:-])/gi, "MAC"),
};

/** Finds addresses of Ethereum, and of Bitcoin in their form of today. */
export const cryptoAddressDetector: Detector = {
  find: (text) =>
    findAll(text, /(?<!\w)(?:0x[\da-f]{40}|bc1[ac-hj-np-z02-9]{11,71})(?!\w)/gi, "CRYPTO_ADDRESS"),
};
