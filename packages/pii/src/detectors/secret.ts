import { hasWord, spaced, wordSet } from "../context.ts";
import type { Detector, Finding } from "../types.ts";

/** Keys and tokens whose issuers give them a beginning of their own. */
const MARKED =
  /(?<![A-Za-z0-9])(?:(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7\d]{16}|gh[pousr]_[A-Za-z\d]{30,255}|github_pat_\w{22,255}|glpat-[\w-]{20,64}|xox[abeoprs]-[\w-]{10,255}|xapp-[\w-]{20,255}|sk-[A-Za-z\d_-]{20,255}|(?:sk|rk|pk|whsec)_(?:live_|test_)?[A-Za-z\d]{16,255}|AIza[\w-]{35}|ya29\.[\w-]{20,255}|GOCSPX-[\w-]{20,64}|npm_[A-Za-z\d]{36}|pypi-[\w-]{32,255}|hf_[A-Za-z\d]{30,64}|SG\.[\w-]{16,64}\.[\w-]{16,64}|do[opr]_v1_[a-f\d]{64}|shp(?:at|ca|pa|ss)_[a-f\d]{32}|lin_api_[A-Za-z\d]{32,64}|dckr_pat_[\w-]{20,64}|sq0[a-z]{3}-[\w-]{22,64}|key-[a-f\d]{32}|(?:AC|SK)[a-f\d]{32}|eyJ[\w-]{8,4000}\.[\w-]{8,4000}\.[\w-]{8,1000})(?![A-Za-z\d])/g;
const KEY_BEGIN = /-----BEGIN (?:[A-Z\d]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = "-----END ";
/** The user and the password in an address, as far as the `@`. */
const USER_INFO = /(?<=[a-z\d]:\/\/)[^\s:@/?#"'<>]{0,128}:[^\s@/?#"'<>]{1,256}(?=@[\w.[-])/gi;
/** The same without a scheme: `admin:Passw0rd@10.0.0.1`. */
const USER_AND_PASSWORD = /(?<![\w.%+/:@-])[\w.-]{1,64}:[^\s:@/?#"'<>,;(){}]{4,128}(?=@[\w[])/g;
/** Words before a colon and an address of email. */
const LABELS = wordSet(
  `mailto mail email emails to from cc bcc reply sip sips xmpp acct contact sender recipient address author user username
  login id name owner by`,
);
const OPTION = /(?<=\s(?:-u|--user)[ =])[^\s:"']{1,64}:[^\s"']{4,128}/g;
const BEARER = /(?<=\b(?:bearer|basic) )[\w.~+/-]{16,4000}=*/gi;
/** A name that says so, and what is set. */
const ASSIGNED =
  /(?<!public[ _-]?key)(?:passwords?|passwd|passphrase|pwd|secret|api[_-]?key|apikey|access[_-]?key|account[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|bearer[_-]?token|api[_-]?token|token|sharedaccesskey)["']?(?: ?[:=] ?| is )["']?([^\s"',;&<>{}()[\]]{6,512})/gi;
const SECRET_KEY =
  /(?:^| )(?:passwords?|passwd|passphrase|pwd|secret|secret key|api ?key|access key(?! id)|private key|signing key|encryption key|auth token|access token|refresh token|bearer token|api token|session token|client secret|connection string)$/i;
/** What stands where a secret would be: words, placeholders, names of variables. */
const NO_SECRET =
  /^(?:[a-z]+|[A-Z]+|[\d.]{1,7}|\$.*|\*+|x+|<.*|%.*|\[\[.*|process\.env.*|os\.environ.*|(?:null|none|true|false|undefined|string|required|optional|redacted)\b.*)$/;
/** The shortest of what its beginning tells. */
const MIN_MARKED_CHARACTERS = 15;
const PASSWORDS = wordSet("password passwords passwd passphrase pwd");
const PLACEHOLDERS = wordSet(
  `string text null none true false undefined required optional redacted password passwd secret hidden masked empty unset
  changed expired invalid incorrect wrong missing field value reset forgot forgotten protected prompt example your`,
);
const MARKS =
  /AKIA|ASIA|ABIA|ACCA|gh[pousr]_|_pat_|glpat|xox|xapp|sk-|[srp]k_|whsec|AIza|ya29|GOCSPX|npm_|pypi-|hf_|SG\.|_v1_|shp|lin_|sq0|key-|AC[a-f\d]|SK[a-f\d]|eyJ/;

/** Finds keys, tokens, private keys, passwords in addresses and in settings. */
export const secretDetector: Detector = {
  find(text, key) {
    if (key !== undefined && isSecretUnder(text, key))
      return [{ start: 0, end: text.length, type: "SECRET" }];
    const found: Finding[] = [];
    const add = (start: number, end: number): void => void found.push({ start, end, type: "SECRET" });
    if (text.length >= MIN_MARKED_CHARACTERS && MARKS.test(text))
      for (const { 0: match, index } of text.matchAll(MARKED)) add(index, index + match.length);
    if (text.includes("-----BEGIN")) findPrivateKeys(text, add);
    if (text.includes("://"))
      for (const { 0: match, index } of text.matchAll(USER_INFO)) add(index, index + match.length);
    if (text.includes("@") && text.includes(":")) {
      for (const { 0: match, index } of text.matchAll(USER_AND_PASSWORD)) {
        const label = match.slice(0, match.indexOf(":")).toLowerCase();
        if (!LABELS.has(label)) add(index, index + match.length);
      }
    }
    if (text.includes(" -u") || text.includes(" --user"))
      for (const { 0: match, index } of text.matchAll(OPTION)) add(index, index + match.length);
    if (text.length >= MIN_MARKED_CHARACTERS && /bearer |basic /i.test(text))
      for (const { 0: match, index } of text.matchAll(BEARER)) add(index, index + match.length);
    const mayAssign = text.includes(":") || text.includes("=") || text.includes(" is ");
    for (const { 0: match, 1: value = "", index } of mayAssign ? text.matchAll(ASSIGNED) : []) {
      const plain = value.replace(/[.:!?\\]+$/, "");
      const isWeak = /token["']?(?: ?[:=]| is)/i.test(match) || / is /.test(match);
      const isPassword = /^pass|^pwd/i.test(match) && !/ is /.test(match);
      if (
        (isPassword ? isPlaceholder(plain) : NO_SECRET.test(plain)) ||
        plain.length < 6 ||
        (isWeak && !looksRandom(plain))
      )
        continue;
      const start = index + match.length - value.length;
      add(start, start + plain.length);
    }
    return found;
  },
};

function findPrivateKeys(text: string, add: (start: number, end: number) => void): void {
  let least = 0;
  for (const { 0: match, index } of text.matchAll(KEY_BEGIN)) {
    if (index < least) continue;
    const end = text.indexOf(KEY_END, index + match.length);
    const close = end === -1 ? -1 : text.indexOf("-----", end + KEY_END.length);
    least = close === -1 ? text.length : close + 5;
    add(index, least);
  }
}

function isSecretUnder(text: string, key: string): boolean {
  return (
    text.length >= 4 &&
    text.length <= 4096 &&
    SECRET_KEY.test(spaced(key)) &&
    !/\s/.test(text.trim()) &&
    (hasWord(spaced(key).toLowerCase(), PASSWORDS)
      ? !isPlaceholder(text)
      : looksRandom(text) || !NO_SECRET.test(text))
  );
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
  return text.length >= 8 && /\d/.test(text) && /[A-Za-z]/.test(text);
}
