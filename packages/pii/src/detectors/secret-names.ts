import { spaced, wordSet } from "../context.ts";

/**
 * Parses names of secrets, each with `=` and four of its characters that are rare in other words, which `traits.ts` uses as
 * a prefilter. An underscore in a name matches any separator of words, one in the four characters any non-letter.
 */
function namesOf(text: string): { pattern: string; marks: string[] } {
  const entries = [...wordSet(text)].map((entry) => {
    const at = entry.lastIndexOf("=");
    const marks = entry.slice(at + 1).replaceAll("_", " ");
    return { name: entry.slice(0, at).replaceAll("_", "[ _-]?"), marks: marks.split(",") };
  });
  const pattern = entries.map(({ name }) => name).join("|");
  return { pattern, marks: entries.flatMap(({ marks }) => marks) };
}

/** Names whose values are passwords, whatever they look like. */
const PASSWORDS = namesOf(
  `passwords?=assw passwd=assw pass_phrase=assp passcode=assc pwd=pwd_
  passwort=assw kennwort=ennw zugangscode=ugan wachtwoord=twoo toegangscode=egan l[oö]senord=osen,l?se
  contrase[nñ]a=tras senha=senh palavra_passe=avra mot_de_passe=de_p,depa mdp=mdp_ parola_d'ordine=rola has[łl]o(?:_dostępu)?=as?o,aslo
  code_d'acc[eè]s=cc?s chiave_di_accesso=hiav`,
);
/** Names whose values are secrets, unless the value is itself a word or a name. */
const SECRETS = namesOf(
  `secret=ecre secret_key=_key (?:api|wlan|wpa2?)_(?:key|schl[uü]ssel|sleutel)=ikey,_key,hl?s,hlus,leut access_key=skey account_key=tkey
  private_key=ekey signing_key=gkey encryption_key=nkey (?:chave_(?:de_)?|clave_|chiave_|cl[eé]_|klucz_)api=chav,hiav,l?_a,lucz`,
);
/** The same, but only in texts, where the value may have to look like a secret. */
const SECRETS_IN_TEXT = namesOf(
  `(?:token(?<!(?:page|next|continuation|sync|cursor)_token)|clave)(?:_de_acceso)?=oken,lave jeton=eton parola_chiave=hiav jwt=jwt_ otp=_otp sharedaccesskey=skey
  cookie(?::\\s?[\\w.-]{1,64}(?==))?=ooki (?:session_|sess)id=onid,n_id,ssid (?<![\\w-])pw=_pw_ (?<![\\w-])pass(?==)=ass_
  (?<=["'&?]|(?:db|user|admin|root|smtp|mail|ftp|proxy|auth|login).|(?:user|login)\\w{0,4}\\W{1,3}[\\w.@-]{1,32}\\W{1,3})pass=ass_`,
);
/** Final words that only count in keys. A pagination token is not a secret. */
const SECRETS_AS_KEY =
  "(?<!(?:page|next|continuation|sync|cursor) )token|session ?id|credentials?|(?:db|database|user|admin|root|smtp|mail|ftp|proxy|auth|login) pass|parola|jwt|otp|(?:session )?cookie|client secret|connection string";
/** Codes of three to eight digits. */
const CODES = namesOf(
  `m?pin(?:_code|_nummer)?(?:_for_(?:the|your|my)_[a-z]{2,16})?=_pin,mpin pin_kod=_pin geheimzahl=eimz cvv2?=_cvv cvc2?=_cvc
  csc=_csc otp(?:_code)?=_otp mfa_code=mfa_ m?tan=_tan,mtan puk=_puk sicherheits_code=itsc security_code=ty_c
  verification_code=rifi one_time_(?:code|pass(?:word|code))=e_ti,assw,assc cryptogramme=ptog (?:karten)?pr[uü]f(?:ziffer|nummer)=fzif,fnum
  codice_di_sicurezza=urez beveiligings_code=ilig
  c[oó]digo_(?:de_)?segur(?:idad|ança)=egur c[oó]digo_(?:de_)?verifica(?:ci[oó]n|[cç][aã]o)=rifi
  codice_(?:di_)?verifica=rifi verificatie_code=rifi code_(?:secret|(?:de_)?v[eé]rification)=rifi,ecre kod_weryfikacyjny=ryfi`,
);
/** Sent codes of at least four digits. */
const CODES_SENT =
  "(?:(?:2fa|mfa|sms)[ -]code|(?:your|ihr|dein|votre|tu|su|seu|tuo|je|jouw|uw) (?:code|c[oó]digo|codice))";
/** Card codes, even right before three digits. */
const CODES_OF_CARDS =
  "cvv2?|cvc2?|csc|security code|cryptogramme|c[oó]digo de segurança|(?:karten)?pr[uü]f(?:ziffer|nummer)|codice di sicurezza|beveiligingscode";
/** Other codes that are unambiguous in texts: a key `confirmationCode` is usually a booking code. */
const CODES_IN_TEXT = "confirmation code|best[äa]tigungscode";
const CODES_AS_KEY = "(?:card )?security number|codice segreto";

/** Four characters of each name, in lower case. */
export const SECRET_MARKS: readonly string[] = [
  ...[PASSWORDS, SECRETS, SECRETS_IN_TEXT, CODES].flatMap(({ marks }) => marks),
  "irma",
  "igun",
  // For sent codes: `your code`.
  ..." fa ,sms ,ur c, ihr,dein,otre,tu c,su c,eu c,uo c,je c,uw c".split(","),
  // For `basic` and `bearer`.
  "asic",
  "eare",
];

/** The verb between a name and its value. */
const VERB = "is|ist|lautet|es|est|[eé]|è|(?<=(?:[łl]o|ny) )to";
const SET = "[ \\t]{0,16}[:=][ \\t]{0,16}";
/** A name up to the assigned value. */
export const ASSIGNED = new RegExp(
  `(?:${PASSWORDS.pattern}|${SECRETS.pattern}|${SECRETS_IN_TEXT.pattern})["']?(?:${SET}(?:[|>][-+]?\\r?\\n {1,16}|\\r?\\n(?![\\w@.-]+:)(?=\\S))?| (?:${VERB}):? |(?<=login \\S{1,64} password) )["'\`]?`,
  "gi",
);
export const HAS_VERB = new RegExp(` (?:${VERB}) `, "i");
export const BEGINS_WITH_PASSWORD = new RegExp(`^(?:${PASSWORDS.pattern})`, "i");
export const HAS_PASSWORD = new RegExp(`(?<!\\p{L})(?:${PASSWORDS.pattern}|parola)(?!\\p{L})`, "iu");
const SECRET_KEY = new RegExp(
  `^(?:pass|pw|clave|mdp|jeton|parola chiave)$|(?:^| )(?:${PASSWORDS.pattern}|${SECRETS.pattern}|${SECRETS_AS_KEY})(?: ?\\d{1,2}| (?:confirm(?:ation)?|repeat|again|new|old|current|plain ?(?:text)?))?$`,
  "i",
);
const CODE_KEY = new RegExp(`(?:^| )(?:${CODES.pattern}|${CODES_AS_KEY})$`, "i");
/**
 * Without an assignment, a name must be followed by as many digits as such a code has. Six digits after `PIN code` are an
 * Indian postal code.
 */
export const CODE = new RegExp(
  `(?<![\\p{L}\\d])(?:(?:${CODES.pattern}|${CODES_IN_TEXT})["']?(?:${SET}| (?:${VERB}):? )["']?|${CODES_SENT}(?:${SET}| (?:${VERB}):? )(?=\\d{4})|(?:${CODES_OF_CARDS})(?= \\d{3}(?!\\d)) |(?:pin[ -]?code|geheimzahl|pin-?nummer)(?= \\d{4}(?!\\d)) |(?:otp|passcode|(?:2fa|mfa|sms) code)(?= \\d{5,8}(?!\\d)) )(?<!pin[ -]?code["']?${SET}["']?(?=\\d{6}(?!\\d)))(\\d{3,8})(?![\\d.,]\\d|\\d| \\d{3}(?!\\d))`,
  "giu",
);
/** Names of facts about passwords, which are not secret. */
const ABOUT_PASSWORDS =
  /^(?:has|is|no|show|hide|forgot|reset|require[sd]?|needs?|wrong|invalid) |(?: |^)(?:age|length|counts?|reset|changed|updated|expires?|expiry|policy|strength|attempts|hint|label|error|min|max|field|title|message|placeholder|url|link|at)$/;

/** Whether a key names a password. */
export function isPasswordKey(key: string): boolean {
  const name = spaced(key).toLowerCase();
  return HAS_PASSWORD.test(name) && !ABOUT_PASSWORDS.test(name);
}

/** Whether a key ends with the name of a secret. */
export function endsWithSecret(key: string): boolean {
  return SECRET_KEY.test(spaced(key));
}

/** Whether a key names a code of this many digits. Six digits may be an Indian postal code of the same name. */
export function isCodeKey(key: string, digits?: number): boolean {
  const name = spaced(key);
  return CODE_KEY.test(name) && !(digits === 6 && /pin ?code$/i.test(name));
}
