import { byKey, hasWord, spaced, withoutEnding, wordSet } from "../context.ts";
import type { Finding } from "../context.ts";
import { AT, COLON, NAMES_SECRET, traitsOf } from "../traits.ts";
import type { Traits } from "../traits.ts";

/** Keys and tokens whose issuers give them a beginning of their own. */
const MARKED: readonly RegExp[] = [
  /(?<![A-Za-z\d])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7\d]{16}(?![A-Za-z\d])/g,
  /(?<![A-Za-z\d])(?:gh[pousr]_[A-Za-z\d]{30,}|github_pat_\w{22,}|glpat-[\w-]{20,}|npm_[A-Za-z\d]{36}|pypi-[\w-]{32,})/g,
  /(?<![A-Za-z\d])(?:xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{20,}|lin_api_[A-Za-z\d]{32,}|dckr_pat_[\w-]{20,})/g,
  /(?<![A-Za-z\d])(?:sk-[\w-]{20,}|[srp]k_(?:live_|test_)?[A-Za-z\d]{16,}|whsec_[A-Za-z\d]{16,}|key-[a-f\d]{32})/g,
  /(?<![A-Za-z\d])(?:AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|hf_[A-Za-z\d]{30,}|SG\.[\w-]{16,}\.[\w-]{16,})/g,
  /(?<![A-Za-z\d])(?:do[opr]_v1_[a-f\d]{64}|shp(?:at|ca|pa|ss)_[a-f\d]{32}|sq0[a-z]{3}-[\w-]{22,}|(?:AC|SK)[a-f\d]{32}(?![A-Za-z\d]))/g,
];
const WORD = /[\w-]/;
const MIN_ASSIGNED_CHARACTERS = 6;
const MAX_KEYED_CHARACTERS = 4_096;
const MIN_JWT_PART_CHARACTERS = 8;
const KEY_BEGIN = /-----BEGIN (?:[A-Z\d]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = "-----END ";
/** The user and the password in an address, as far as the `@`. */
const USER_INFO = /(?<=[a-z\d]:\/\/)[^\s:@/?#"'<>]{0,128}:[^\s@/?#"'<>]{1,256}(?=@[\w.[-])/gi;
/** The same without a scheme: `admin:Passw0rd@10.0.0.1`. */
const USER_AND_PASSWORD = /(?<![\w.%+/:@-])[\w.-]{1,64}:[^\s:@/?#"'<>,;(){}]{4,128}(?=@[\w[])/g;
const PERSON = /^[a-z]+(?:[._-][a-z]+)*$/i;
const HOST = /^@(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}(?![\w.-]*:)/i;
/** Words before a colon and an address of email. */
const LABELS = wordSet(
  `mailto mail email emails to from cc bcc reply sip sips xmpp acct contact sender recipient address author user username
  login id name owner by e-mail reply-to delivered-to return-path signed-off-by kontakt contacto contatto correo courriel
  absender`,
);
const OPTION_NAME = / -u| --user/;
const OPTION = /(?<=\s(?:-u|--user)[ =])[^\s:"']{1,64}:[^\s"']{4,128}/g;
const BEARER = /(?<=\b(?:bearer|basic) )[\w.~+/-]{16,4000}=*/gi;
/** A name that says so, as far as what is set. */
const ASSIGNED =
  /(?:passwords?|passwd|passphrase|pwd|passwor[td]|kennwort|senha|contrase[nñ]a|mot de passe|wachtwoord|has[łl]o|parola d'ordine|(?<=["'&?]|(?:db|user|admin|root|smtp|mail|ftp|proxy|auth|login)_)pass|secret|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|token|sharedaccesskey)["']?(?: ?[:=] ?(?:[|>][-+]?\r?\n {1,16})?| is )["']?/gi;
/** An element of XML, whose name tells what it holds. */
const ELEMENT = /<(?:[\w.-]{1,32}:)?([\w.-]{1,64})(?:\s[^<>]{0,256})?>([^<>\n]{4,256})<\//g;
/** A tag or an object, of which one part may be the name of another: `<input name="password" value="…">`. */
const PAIR = /[<{][^<>{}]{1,1024}[>}]/g;
const PAIR_NAME = /["'\s{](?:name|key|id|type)["']?\s?[=:]\s?["']([^"'<>{}]{1,64})["']/gi;
const PAIR_VALUE = /(?<=["'\s{]value["']?\s?[=:]\s?["'])[^"'<>{}\n]{4,256}(?=["'])/i;
const ASSIGNED_VALUE = /[^\s"',;&<>{}()[\]]{6,512}/y;
const SECRET_KEY =
  /^pass$|(?:^| )(?:(?:db|database|user|admin|root|smtp|mail|ftp|proxy|auth|login) pass|passwords?|passwd|passphrase|pwd|passwort|kennwort|senha|contrase[nñ]a|mot ?de ?passe|wachtwoord|has[łl]o|parola|jwt|otp|session cookie|cookie|secret|secret key|api ?key|access key(?! id)|private key|signing key|encryption key|auth token|access token|refresh token|bearer token|api token|session token|client secret|connection string)$/i;
/** Texts in the place of a secret that are none: words, placeholders, names of variables. */
const NO_SECRET =
  /^(?:[a-z]+|[A-Z]+|[\d.]{1,7}|\$.*|\*+|x+|<.*|%.*|\[\[.*|process\.env.*|os\.environ.*|(?:null|none|true|false|undefined|string|required|optional|redacted)\b.*)$/;
/** The shortest of what its beginning tells, and its longest word. */
const MIN_MARKED_CHARACTERS = 15;
const PASSWORDS = wordSet(
  "password passwords passwd passphrase pwd passwort kennwort senha contrasena contraseña wachtwoord haslo hasło parola",
);
/** Codes of three to eight digits, which their names tell. */
const CODE_KEY =
  /(?:^| )(?:pin|pin ?code|cvv2?|cvc2?|csc|card security code|otp|one time (?:code|password)|tan)$/i;
const CODE =
  /(?<![\p{L}\d])(?:pin(?: code)?|cvv2?|cvc2?|csc|otp|tan)["']?(?: ?[:=] ?| is )["']?(\d{3,8})(?![\d.,]\d|\d)/giu;
const PLACEHOLDERS = wordSet(
  `string text null none true false undefined required optional redacted password passwd secret hidden masked empty unset
  changed expired invalid incorrect wrong missing field value reset forgot forgotten protected prompt example your`,
);
const MARKS =
  /AKIA|ASIA|ABIA|ACCA|gh[pousr]_|_pat_|glpat|xox|xapp|sk-|[srp]k_|whsec|AIza|ya29|GOCSPX|npm_|pypi-|hf_|SG\.|_v1_|shp|lin_|sq0|key-|AC[a-f\d]|SK[a-f\d]/;

/** Whether a text may hold a secret, by its own signs: the name of one, a long word, or marks as only secrets have them. */
export function mayHoldSecretText({ word, signs, names }: Traits, text: string): boolean {
  return (
    word >= MIN_MARKED_CHARACTERS ||
    (names & NAMES_SECRET) !== 0 ||
    (word >= MIN_JWT_PART_CHARACTERS && (text.includes("eyJ") || text.includes("-----BEGIN"))) ||
    ((signs & COLON) !== 0 && ((signs & AT) !== 0 || text.includes("://") || OPTION_NAME.test(text)))
  );
}

/** Finds keys, tokens, private keys, passwords in addresses and in settings. */
export const secretDetector = {
  find(text: string, key?: string, { word, signs, names }: Traits = traitsOf(text)): Finding[] {
    if (key !== undefined && isSecretUnder(text, key))
      return [{ start: 0, end: text.length, type: "SECRET" }];
    const found: Finding[] = [];
    const add = (start: number, end: number): void => void found.push({ start, end, type: "SECRET" });
    if (word >= MIN_MARKED_CHARACTERS && MARKS.test(text)) findMarked(text, add);
    if (word >= MIN_JWT_PART_CHARACTERS) {
      findJwts(text, add);
      if (text.includes("-----BEGIN")) findPrivateKeys(text, add);
    }
    if ((signs & COLON) !== 0) findCredentials(text, (signs & AT) !== 0, add);
    if ((names & NAMES_SECRET) === 0) return found;
    if (text.length >= MIN_MARKED_CHARACTERS && /bearer |basic /i.test(text))
      for (const { 0: match, index } of text.matchAll(BEARER)) add(index, index + match.length);
    if (/[<{]/.test(text)) findMarkedUp(text, add);
    if (text.includes(":") || text.includes("=") || text.includes(" is ")) {
      findAssigned(text, add);
      for (const { 0: match, 1: code = "", index } of text.matchAll(CODE))
        add(index + match.length - code.length, index + match.length);
    }
    return found;
  },
};

/** Finds a user's name and password with a colon between them. */
function findCredentials(text: string, hasAt: boolean, add: Add): void {
  if (hasAt) {
    if (text.includes("://"))
      for (const { 0: match, index } of text.matchAll(USER_INFO)) add(index, index + match.length);
    for (const { 0: match, index } of text.matchAll(USER_AND_PASSWORD)) {
      const colon = match.indexOf(":");
      if (LABELS.has(match.slice(0, colon).toLowerCase())) continue;
      // A name before a host is found as an address.
      const isAddress = PERSON.test(match.slice(colon + 1)) && HOST.test(text.slice(index + match.length));
      if (!isAddress) add(index, index + match.length);
    }
  }
  if (OPTION_NAME.test(text))
    for (const { 0: match, index } of text.matchAll(OPTION)) add(index, index + match.length);
}

/** Adds a place to what was found. */
type Add = (start: number, end: number) => void;

function findMarked(text: string, add: Add): void {
  for (const pattern of MARKED) {
    for (const { 0: match, index } of text.matchAll(pattern)) add(index, index + match.length);
  }
}

function findJwts(text: string, add: Add): void {
  for (let start = text.indexOf("eyJ"); start !== -1;) {
    const end = endOfJwt(text, start);
    if (end.isJwt) add(start, end.at);
    start = text.indexOf("eyJ", end.at);
  }
}

/** Where three parts of a JSON web token end, or where what is none may be followed by one. */
function endOfJwt(text: string, start: number): { at: number; isJwt: boolean } {
  let at = start;
  for (let part = 0; part < 3; part += 1) {
    if (part > 0) {
      if (text[at] !== ".") return { at, isJwt: false };
      at += 1;
    }
    const from = at;
    while (at < text.length && WORD.test(text[at] ?? " ")) at += 1;
    if (at - from < MIN_JWT_PART_CHARACTERS) return { at: Math.max(at, start + 1), isJwt: false };
  }
  return { at, isJwt: true };
}

function findAssigned(text: string, add: Add): void {
  for (const { 0: name, index } of text.matchAll(ASSIGNED)) {
    if (/public[ _-]?key$/i.test(text.slice(Math.max(0, index - 10), index))) continue;
    const start = index + name.length;
    ASSIGNED_VALUE.lastIndex = start;
    const [value = ""] = ASSIGNED_VALUE.exec(text) ?? [];
    const plain = withoutEnding(value, ".:!?\\");
    const isProse = name.includes(" is ");
    const isPassword = /^pass[wp]|^pwd/i.test(name) && !isProse;
    if (plain.length < MIN_ASSIGNED_CHARACTERS || (isPassword ? isPlaceholder(plain) : NO_SECRET.test(plain)))
      continue;
    if ((isProse || /^(?:token|pass\b)/i.test(name)) && !looksRandom(plain)) continue;
    add(start, start + plain.length);
  }
}

/** Finds what stands in an element or beside a name. */
function findMarkedUp(text: string, add: Add): void {
  for (const { 0: match, 1: name = "", 2: value = "", index } of text.matchAll(ELEMENT)) {
    const end = index + match.length - "</".length;
    if (isSecretUnder(value, name)) add(end - value.length, end);
  }
  for (const { 0: pair, index } of text.matchAll(PAIR)) {
    const value = PAIR_VALUE.exec(pair);
    if (value === null) continue;
    const isSecret = [...pair.matchAll(PAIR_NAME)].some(([, name = ""]) => isSecretUnder(value[0], name));
    if (isSecret) add(index + value.index, index + value.index + value[0].length);
  }
}

function findPrivateKeys(text: string, add: Add): void {
  let least = 0;
  for (const { 0: match, index } of text.matchAll(KEY_BEGIN)) {
    if (index < least) continue;
    const end = text.indexOf(KEY_END, index + match.length);
    const close = end === -1 ? -1 : text.indexOf("-----", end + KEY_END.length);
    least = close === -1 ? text.length : close + 5;
    add(index, least);
  }
}

/** Whether the name of a key says that a secret stands under it. */
export const isSecretKey = byKey((key) => {
  const name = spaced(key);
  return SECRET_KEY.test(name) || CODE_KEY.test(name) || isPasswordKey(key);
});

/** Parts of the names of secrets. */
const STEMS =
  /pass|pwd|secret|key|token|connection|cookie|bearer|senha|contrase|kennwort|wachtwoord|has[łl]o|parola|mot|jwt|otp|pin|cvv|cvc|csc|tan/i;

/** A quick look for the names of secrets in a long text. */
export function mayHoldSecret(text: string): boolean {
  return STEMS.test(text);
}

function isSecretUnder(text: string, key: string): boolean {
  if (/^\d{3,8}$/u.test(text)) return CODE_KEY.test(spaced(key)) || isPasswordKey(key);
  if (text.length < 4 || text.length > MAX_KEYED_CHARACTERS) return false;
  const name = spaced(key);
  if (!SECRET_KEY.test(name)) return false;
  // Passphrases have spaces. What else has some is a sentence.
  if (isPasswordKey(key)) return !isPlaceholder(text);
  if (/\s/.test(text.trim())) return false;
  // Under it reports say, too, what was found.
  return name === "pass" ? hasBoth(text) : looksRandom(text) || !NO_SECRET.test(text);
}

function isPasswordKey(key: string): boolean {
  return hasWord(spaced(key).toLowerCase(), PASSWORDS);
}

/** Whether a text stands where a password would be. */
function isPlaceholder(text: string): boolean {
  return (
    PLACEHOLDERS.has(text.toLowerCase()) ||
    /^(?:\$.*|\*+|x+|<.*|%.*|\[\[.*|process\.env.*|os\.environ.*)$/.test(text)
  );
}

/** Whether a text has letters and digits, as made-up ones have. */
function looksRandom(text: string): boolean {
  return text.length >= 8 && hasBoth(text);
}

function hasBoth(text: string): boolean {
  return /\d/.test(text) && /[A-Za-z]/.test(text);
}

/** A heading of a table whose columns hold secrets. */
export interface Heading {
  delimiter: string;
  /** Which columns do, from 0. */
  columns: readonly number[];
  /** How many cells each line has. */
  count: number;
}

const DELIMITERS = [",", ";", "\t", "|"];
const MAX_HEADING_CHARACTERS = 4_096;
const MIN_SECRET_CHARACTERS = 4;

/**
 * Finds the secrets in the columns of a table (CSV and the like) whose heading names them.
 *
 * @param heading - That of the table's beginning, where the text is a later part of it.
 * @returns the heading of what follows the text, too.
 */
export function findColumns(
  text: string,
  heading?: Heading,
): { found: Finding[]; heading: Heading | undefined } {
  const found: Finding[] = [];
  let current = heading;
  if (heading === undefined && !(text.includes("\n") && mayHoldSecret(text))) return { found, heading };
  for (let start = 0; start < text.length;) {
    const line = text.indexOf("\n", start);
    const end = line === -1 ? text.length : line;
    const next = headingOf(text.slice(start, Math.min(end, start + MAX_HEADING_CHARACTERS)));
    if (next !== undefined) current = next;
    else if (text.slice(start, end).trim() === "") current = undefined;
    else if (current !== undefined) addCells(text.slice(start, end), start, current, found);
    start = end + 1;
  }
  return { found, heading: current };
}

function headingOf(line: string): Heading | undefined {
  if (line.includes("=") || line.includes("{") || !mayHoldSecret(line)) return undefined;
  for (const delimiter of DELIMITERS) {
    if (!line.includes(delimiter)) continue;
    const names = line.split(delimiter).map((name) => name.trim().replaceAll('"', ""));
    const columns = names.flatMap((name, at) => (isSecretKey(name) && name !== "pass" ? [at] : []));
    if (columns.length > 0 && names.every((name) => name.length < 64))
      return { delimiter, columns, count: names.length };
  }
  return undefined;
}

/** A line with another number of cells is none of the table, or the rest of a cell with a line end in it. */
function addCells(line: string, start: number, heading: Heading, found: Finding[]): void {
  const { delimiter, columns, count } = heading;
  const cells: Finding[] = [];
  let column = 0;
  for (let from = 0; from <= line.length; column += 1) {
    const close = line[from] === '"' ? line.indexOf('"', from + 1) : -1;
    const mark = line.indexOf(delimiter, close === -1 ? from : close + 1);
    const to = mark === -1 ? line.length : mark;
    const cell = line.slice(from, to);
    const value = cell.trim().replace(/^"|"$/g, "");
    if (columns.includes(column) && value.length >= MIN_SECRET_CHARACTERS && !isPlaceholder(value)) {
      const at = start + from + cell.indexOf(value);
      cells.push({ start: at, end: at + value.length, type: "SECRET" });
    }
    from = to + 1;
  }
  if (column === count) found.push(...cells);
}
