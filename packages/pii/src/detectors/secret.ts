import { byKey, hasWord, spaced, withoutEnding, wordSet, type Finding } from "../context.ts";
import {
  ASSIGNED,
  BEGINS_WITH_PASSWORD,
  CODE,
  endsWithSecret,
  HAS_PASSWORD,
  HAS_VERB,
  isCodeKey,
  isPasswordKey,
} from "./secret-names.ts";
import { AT, COLON, NAMES_SECRET, traitsOf, type Traits } from "../traits.ts";

/** Keys and tokens with an issuer's prefix. */
const MARKED: readonly RegExp[] = [
  /(?<![A-Za-z\d])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7\d]{16}(?![A-Za-z\d])/g,
  /(?<![A-Za-z\d])(?:gh[pousr]_[A-Za-z\d]{30,}|github_pat_\w{22,}|glpat-[\w-]{20,}|npm_[A-Za-z\d]{36}|pypi-[\w-]{32,})/g,
  /(?<![A-Za-z\d])(?:xox[abeoprs]-[\w-]{10,}|xapp-[\w-]{20,}|lin_api_[A-Za-z\d]{32,}|dckr_pat_[\w-]{20,})/g,
  /(?<![A-Za-z\d])(?:sk-[\w-]{20,}|[srp]k_(?:live_|test_)?[A-Za-z\d]{16,}|whsec_[A-Za-z\d]{16,}|key-[a-f\d]{32})/g,
  /(?<![A-Za-z\d])(?:AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}|hf_[A-Za-z\d]{30,}|SG\.[\w-]{16,}\.[\w-]{16,})/g,
  /(?<![A-Za-z\d])(?:do[opr]_v1_[a-f\d]{64}|shp(?:at|ca|pa|ss)_[a-f\d]{32}|sq0[a-z]{3}-[\w-]{22,}|(?:AC|SK)[a-f\d]{32}(?![A-Za-z\d]))/g,
];
/** Addresses of hooks, bots and signed links, whose last part is secret, and hashes of passwords. */
const ISSUED =
  /(?<=hooks\.slack\.com\/services\/|discord\.com\/api\/webhooks\/)[\w/-]{24,}|(?<=api\.telegram\.org\/bot|[?&](?:sig|\w{1,3}-\w{1,4}-Signature)=)[\w%+:=-]{24,}|\$(?:2[abxy]|[156y])\$[\w./,=-]{1,24}\$[\w./$-]{20,}/g;
const ISSUED_MARKS = /hooks\.slack|webhooks\/|\/bot\d|[?&-][Ss]ig(?:nature)?=|\$(?:2[abxy]|[156y])\$/;
const WORD = /[\w-]/;
const MIN_ASSIGNED_CHARACTERS = 6;
const MIN_KEYED_CHARACTERS = 4;
const MAX_KEYED_CHARACTERS = 4_096;
const MAX_QUOTED_CHARACTERS = 128;
const MAX_PASSPHRASE_WORDS = 6;
/** Punctuation between words, which passwords don't have. */
const SENTENCE = /[,.;:()] /u;
const MIN_JWT_PART_CHARACTERS = 8;
const KEY_BEGIN = /-----BEGIN (?:[A-Z\d]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = "-----END ";
/** The user and the password in a URL, up to the `@`. */
const USER_INFO = /(?<=[a-z\d]:\/\/)[^\s:@/?#"'<>]{0,128}:[^\s@/?#"'<>]{1,256}(?=@[\w\xC0-\uD7FF.[-])/gi;
/** The same without a scheme: `admin:Passw0rd@10.0.0.1`. Character ranges are faster here than the Unicode property. */
const USER_AND_PASSWORD =
  /(?<![\w\xC0-\u1FFF\u3040-\uD7FF.%+/:@-])[\w\xC0-\u1FFF\u3040-\uD7FF.-]{1,64}:(?!\\)[^\s:@/?#"'<>,;(){}]{4,128}(?=@[\w\xC0-\uD7FF[])/g;
const PERSON = /^\p{L}+\d{0,4}(?:[._+-][\p{L}\d]+)*$/u;
/** A field before an email address in a log or a query: `10:15|ada@…`, `t=10:15&user=ada@…`. */
const WORD_BEFORE = /^(?:[\p{L}_-]+|\d+Z?)(?:[|=]|&\w{1,16}=)/u;
const HOST = /^@(?:[\p{L}\d_-]{1,63}\.){1,8}\p{L}{2,24}(?![\w.-]*(?:\/|:(?:\d|[a-z~][\w.~-]*\/)))/u;
/** A version in place of a host: `npm:react@18`. */
const VERSION = /^@v?\d+(?:\.\d+){0,2}(?!\.?\w)/;
/** A plain word or number. It is a password only if a host follows, unlike in `Room:Berlin@floor2`. */
const PLAIN = /^(?:[\p{L}_-]+|\d+)$/u;
const CERTAIN_HOST = /^@(?:localhost|\[|[\p{L}\d_-]{1,63}\.[\p{L}\d])/u;
/** Words before a colon and an email address. */
const LABELS = wordSet(
  `mailto mail email emails to from cc bcc reply sip sips xmpp acct contact sender recipient address author user username
  login id name owner by npm jsr e-mail reply-to delivered-to return-path signed-off-by kontakt contacto contatto correo courriel
  absender work home internet pref group account assignee requester reviewer customer organizer attendee uid`,
);
const OPTION_NAME = / -u| --user/;
const OPTION = /(?<=\s(?:-u|--user)[ =])[^\s:"']{1,64}:[^\s"']{4,128}/g;
const BEARER = /(?<=\b(?:bearer|basic) )[\w.~+/-]{16,4000}=*/gi;
/** Words before a secret's name that negate it, and the beginning of a token. */
const NO_NAME_BEFORE =
  /public[ _-]?(?:key)?$|\[\[$|(?:wrong|forgot|reset|show|hide|has|is|no|invalid)[_ -]?$/i;
/** Code in place of a value: a call, a member, a name. */
const CODE_VALUE = /^[\p{L}_$][\w$]*(?:\.[\p{L}_$][\w$]*)*$/u;
const CODE_BEGINS =
  /^(?:z|this|self|process|os|env|config|cfg|conf|req|request|options|opts|args|params|settings|ctx|props|data|state|form|input)\./;
const SAYS_SECRET = /pass|pwd|secret|token|key|hash/i;
/** An XML element, whose name may identify its content. */
const ELEMENT = /<(?:[\w.-]{1,32}:)?([\w.-]{1,64})(?:\s[^<>]{0,256})?>([^<>\n]{3,256})<\//g;
/** A tag or an object in which one part may name another: `<input name="password" value="…">`. */
const PAIR = /[<{][^<>{}]{1,1024}[>}]/g;
const PAIR_NAME = /["'\s{](?:name|key|id|type)["']?\s?[=:]\s?["']([^"'<>{}]{1,64})["']/gi;
const PAIR_VALUE = /(?<=["'\s{]value["']?\s?[=:]\s?["'])[^"'<>{}\n]{3,256}(?=["'])/i;
/** An inner ampersand belongs to it, unless another parameter or entity follows. */
const ASSIGNED_VALUE = /(?:[^\s"'`,;&<>{}()[\]]|&(?![\w.-]{0,64}[=;]|[&\s"'`<]|$)){6,512}/y;
/** A cookie's value without a name only counts if it is long. */
const OF_LONG_TOKEN = /^cookie\W{1,32}$/i;
const MIN_TOKEN_CHARACTERS = 16;
/** Keys whose value may be a plain word. */
const MAY_BE_WORD =
  /^clave$|(?<!(?:auth|access|refresh|bearer|api|session) )token$|session ?id$|credentials?$/i;
/** Texts in place of a secret that are not secret: words, placeholders, variable names. */
const NO_SECRET =
  /^(?:\p{Lu}?\p{Ll}+|[A-Z]+|(?=[A-Z_]{3,80}$)[A-Z_]*?(?:KEY|TOKEN|SECRET|PASS|YOUR|EXAMPLE|CHANGE)[A-Z_]*|[\d.]{1,7}|\$.*|\*+|x+|<.*|%.*|\[\[.*|process\.env.*|os\.environ.*|(?:null|none|true|false|undefined|string|required|optional|redacted)\b.*)$/u;
/** Minimum length of a text with a distinctive prefix, and of its longest word. */
const MIN_MARKED_CHARACTERS = 15;
/** A code that precedes its description. */
const CODE_BEFORE =
  /(?<![\p{L}\d.,]|(?<!\bG)-)\d{4,8}(?= (?:is|ist|es|est|è|é) (?:your|ihr|dein|tu|su|votre|il tuo|o seu) [\p{L} -]{0,24}(?:otp|pin|code|password|código|codice)(?!\p{L}))/giu;
const PLACEHOLDERS = wordSet(
  `string text null none true false undefined required optional redacted password passwd secret hidden masked empty unset
  changed expired invalid incorrect wrong missing field value reset forgot forgotten protected prompt example your
  erforderlich vergessen ändern geändert falsch ungültig obrigatória obrigatório esquecida esquecido inválida obbligatoria obbligatorio
  dimenticata errata requis obligatoire oublié incorrect requerida obligatoria olvidada incorrecta verplicht vergeten onjuist wymagane
  zapomniane buffer boolean number object`,
);
/** A sentence about a password in place of one. */
const ABOUT =
  /^(?:is|ist|est|es|è|é|muss|doit|debe|deve|moet|wird|are|was|must|should|can|cannot|can't|could|does|doesn't|do|has|have|needs?|may|too|not|please|at least|minimum|mindestens|au moins|almeno|al menos|optional|see|enter|choose|the|your|this|it|a|an|no),? /i;
const MARKS =
  /AKIA|ASIA|ABIA|ACCA|gh[pousr]_|_pat_|glpat|xox|xapp|sk-|[srp]k_|whsec|AIza|ya29|GOCSPX|npm_|pypi-|hf_|SG\.|_v1_|shp|lin_|sq0|key-|AC[a-f\d]|SK[a-f\d]/;

/** Quick test whether a text may contain a secret: the name of one, a long word, or distinctive characters. */
export function mayHoldSecretText({ word, signs, names }: Traits, text: string): boolean {
  return (
    word >= MIN_MARKED_CHARACTERS ||
    (names & NAMES_SECRET) !== 0 ||
    (word >= MIN_JWT_PART_CHARACTERS && (text.includes("eyJ") || text.includes("-----BEGIN"))) ||
    ((signs & COLON) !== 0 && ((signs & AT) !== 0 || text.includes("://") || OPTION_NAME.test(text)))
  );
}

/** Finds keys, tokens, private keys, and passwords in URLs and settings. */
export const secretDetector = {
  find(text: string, key?: string, { word, signs, names }: Traits = traitsOf(text)): Finding[] {
    if (key !== undefined && isSecretUnder(text, key))
      return [{ start: 0, end: text.length, type: "SECRET" }];
    const found: Finding[] = [];
    const add = (start: number, end: number): void => void found.push({ start, end, type: "SECRET" });
    if (word >= MIN_MARKED_CHARACTERS && MARKS.test(text))
      for (const pattern of MARKED) addAll(text, pattern, add);
    if (
      word >= MIN_MARKED_CHARACTERS &&
      (text.includes("://") || text.includes("$")) &&
      ISSUED_MARKS.test(text)
    )
      addAll(text, ISSUED, add);
    if (word >= MIN_JWT_PART_CHARACTERS) {
      findJwts(text, add);
      if (text.includes("-----BEGIN")) findPrivateKeys(text, add);
    }
    if ((signs & COLON) !== 0) findCredentials(text, (signs & AT) !== 0, add);
    if ((names & NAMES_SECRET) === 0) return found;
    if (text.length >= MIN_MARKED_CHARACTERS && /bearer |basic /i.test(text)) addAll(text, BEARER, add);
    if (/[<{]/.test(text)) findMarkedUp(text, add);
    if (/[:=]|login /.test(text) || HAS_VERB.test(text)) findAssigned(text, add);
    for (const { 0: match, 1: code = "", index } of text.matchAll(CODE))
      add(index + match.length - code.length, index + match.length);
    addAll(text, CODE_BEFORE, add);
    return found;
  },
};

/** Finds user names and passwords separated by a colon. */
function findCredentials(text: string, hasAt: boolean, add: Add): void {
  if (hasAt) {
    if (text.includes("://")) addAll(text, USER_INFO, add);
    for (const { 0: match, index } of text.matchAll(USER_AND_PASSWORD)) {
      const colon = match.indexOf(":");
      const label = match.slice(0, colon);
      const password = match.slice(colon + 1);
      const host = text.slice(index + match.length);
      if (LABELS.has(label.toLowerCase()) || VERSION.test(host)) continue;
      if (PLAIN.test(password) && !CERTAIN_HOST.test(host)) continue;
      // A name before a host is found as an email address, as is any text labelled like `customerEmail`.
      const isNamed = LABELS.has(spaced(label).toLowerCase().split(" ").at(-1) ?? "");
      const isAddress = (isNamed || PERSON.test(password.replace(WORD_BEFORE, ""))) && HOST.test(host);
      if (!isAddress) add(index, index + match.length);
    }
  }
  if (OPTION_NAME.test(text)) addAll(text, OPTION, add);
}

/** Adds a range to the findings. */
type Add = (start: number, end: number) => void;

function addAll(text: string, pattern: RegExp, add: Add): void {
  for (const { 0: match, index } of text.matchAll(pattern)) add(index, index + match.length);
}

function findJwts(text: string, add: Add): void {
  for (let start = text.indexOf("eyJ"); start !== -1;) {
    const end = endOfJwt(text, start);
    if (end.isJwt) add(start, end.at);
    start = text.indexOf("eyJ", end.at);
  }
}

/** The end of a JWT's three parts, or else the index where the search continues. */
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
    if (NO_NAME_BEFORE.test(text.slice(Math.max(0, index - 10), index))) continue;
    const start = index + name.length;
    const isProse = HAS_VERB.test(name) || /^\w+ $|\n$/.test(name);
    const isPassword = BEGINS_WITH_PASSWORD.test(name);
    const value = (isPassword ? quotedAt(text, start) : undefined) ?? valueAt(text, start);
    if (isAssigned(value, { name, isProse, isPassword })) add(start, start + value.text.length);
  }
}

/** A text assigned as a value. */
interface AssignedValue {
  text: string;
  isQuoted: boolean;
  /** The character after it. */
  next: string;
}

function valueAt(text: string, start: number): AssignedValue {
  ASSIGNED_VALUE.lastIndex = start;
  const [value = ""] = ASSIGNED_VALUE.exec(text) ?? [];
  const isQuoted = /["'`]/.test(text[start - 1] ?? "");
  return { text: withoutEnding(value, ".:?\\"), isQuoted, next: text[start + value.length] ?? "" };
}

/** The text up to its closing quote. */
function quotedAt(text: string, start: number): AssignedValue | undefined {
  const quote = text[start - 1] ?? "";
  if (!/["'`]/.test(quote)) return undefined;
  // Limited to the length of a password, so that an unclosed quote does not scan the rest of the text.
  const near = text.slice(start, start + MAX_QUOTED_CHARACTERS);
  const end = near.indexOf(quote);
  if (end === -1) return undefined;
  const value = near.slice(0, end);
  const isSentence = SENTENCE.test(`${value} `) && value.includes(" ");
  if (isSentence || /[\n\\]|\$\{/.test(value) || value.split(" ").length > MAX_PASSPHRASE_WORDS)
    return undefined;
  return { text: value, isQuoted: true, next: quote };
}

function isAssigned(
  { text, isQuoted, next }: AssignedValue,
  { name, isProse, isPassword }: { name: string; isProse: boolean; isPassword: boolean },
): boolean {
  if (isProse && /^(?:sha|md5|aes|base64|bcrypt|argon2|utf)/i.test(text)) return false;
  const isRandom = looksRandom(text) && (text.length >= MIN_TOKEN_CHARACTERS || !OF_LONG_TOKEN.test(name));
  if (isProse)
    return isPassword
      ? text.length >= MIN_ASSIGNED_CHARACTERS && hasBoth(text) && !isPlaceholder(text)
      : isRandom;
  if (text.length < (isPassword && isQuoted ? MIN_KEYED_CHARACTERS : MIN_ASSIGNED_CHARACTERS)) return false;
  // The beginning of a template placeholder.
  if (next === "{" && text.endsWith("$")) return false;
  if (isPassword ? isPlaceholder(text) : NO_SECRET.test(text) || /^https?:\/\//i.test(text)) return false;
  // A call, a member, or the name of a secret.
  const isCode = next === "(" || (!/\d/.test(text) && (CODE_BEGINS.test(text) || SAYS_SECRET.test(text)));
  if (!isQuoted && isCode && CODE_VALUE.test(text)) return false;
  // Names that also have other meanings in texts, including those of two words: `the access key: Ctrl+S`.
  const isCommon = /^(?:token|jeton|clave|p(?:ass|w)\b|sess|cookie|jwt|otp|\p{L}+ \p{L})/iu.test(name);
  return isPassword || !isCommon || isRandom;
}

/** Finds secrets in elements or next to a name in markup. */
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

/** Whether a key names a secret. */
export const isSecretKey = byKey((key) => endsWithSecret(key) || isCodeKey(key) || isPasswordKey(key));

/** Parts of secrets' names, for a quick test of long texts. */
export const SECRET_STEMS =
  /pass|pwd|secret|key|token|session|credential|mfa|connection|cookie|bearer|senha|contrase|kennwort|wachtwoord|has[łl]o|parola|mot|jwt|otp|pin|cvv|cvc|csc|tan/i;

function isSecretUnder(text: string, key: string): boolean {
  if (/^\d{3,8}$/u.test(text)) return isCodeKey(key, text.length) || (text.length > 3 && isPasswordKey(key));
  if (text.length < MIN_KEYED_CHARACTERS || text.length > MAX_KEYED_CHARACTERS) return false;
  if (!endsWithSecret(key)) return false;
  // Passphrases have spaces. Other values with spaces are sentences.
  if (isPasswordKey(key)) return !isPlaceholder(text);
  if (/\s/.test(text.trim())) return false;
  // Such keys are also used for descriptions.
  if (MAY_BE_WORD.test(spaced(key))) return looksRandom(text);
  return /^(?:pass|pw)$/i.test(key) ? hasBoth(text) : looksRandom(text) || !NO_SECRET.test(text);
}

/** Whether a text is a placeholder for a password. */
function isPlaceholder(text: string): boolean {
  return (
    PLACEHOLDERS.has(text.toLowerCase()) ||
    ABOUT.test(text) ||
    isLabel(text) ||
    /^(?:[#$]?\{.*\}|(?:required|nullable|sometimes|string)\|.*|(?:op|vault):\/\/.*|\$.*|\*+|x+|<.*|%.*|\[\[.*|process\.env.*|os\.environ.*)$/.test(
      text,
    )
  );
}

/** Whether a text is about passwords, like labels and messages. */
function isLabel(text: string): boolean {
  if (/\d/.test(text)) return false;
  const words = text.toLowerCase();
  return (
    HAS_PASSWORD.test(words) ||
    /mot de passe|\bclave\b|^passe$|パスワード|密码/.test(words) ||
    (text.includes(" ") && hasWord(words, PLACEHOLDERS))
  );
}

/** Whether a text has letters and digits, like generated ones. */
function looksRandom(text: string): boolean {
  return text.length >= 8 && hasBoth(text) && !/^\d{4}-\d\d-\d\d/.test(text);
}

function hasBoth(text: string): boolean {
  return /\d/.test(text) && /[A-Za-z]/.test(text);
}
