import {
  byKey,
  endsWith,
  hasWord,
  namesThing,
  spaced,
  THINGS,
  wordSet,
  type around,
  type Words,
} from "../context.ts";

/** Names of properties that hold phone numbers. */
export const PHONE_KEYS = wordSet(
  `phone phones tel tél telephone téléphone telefon telefono teléfono telefone telefoon telefonnummer telefoonnummer mobile mobil
  mobilnummer mobiel movil móvil telemovel telemóvel cell cellphone cellular cellulare celular fax landline hotline whatsapp msisdn
  handy handynummer rufnummer natel gsm komorka komórka homephone workphone mobilephone telefonnr telefonu telefón telefonszám tlf
  puhelin τηλέφωνο 전화 전화번호 휴대폰 핸드폰 電話 电话 手机 телефон`,
);
/** Words before phone numbers. */
export const SAYS_PHONE: ReadonlySet<string> = new Set([
  ...PHONE_KEYS,
  ...wordSet(
    `kom portable mob telm tfno festnetz fone fijo fixe rückruf notfall recapito tfn erreichen erreichbar joignable appelez llámame chiamami zadzwoń тел
    моб هاتف desk office helpline signal sms texted text dial call called calling ring rang reach reached answering contact
    voicemail pager reachable kontakt ansprechpartner ansprechpartnerin notfallkontakt rufen anrufen ruf durchwahl zentrale
    sekretariat notdienst joindre contacter contactez appeler rappelez llame contáctame emergencia contattami chiami centralino
    secrétariat urgence urgences mobilfunk bel bellen bereikbaar ligue comigo recepção kontaktowy ph fon number handynr puh sími tālr τηλ טלפון נייד โทร جوال sđt thoại मोबाइल फोन`,
  ),
]);
/** Words before numbers that look like phone numbers but are not. */
const NOT_CALLED_EITHER = wordSet(`membership konto blz kdnr siren siret abn acn duns erc ikea scores`);
const NOT_CALLED: Words = { has: (word) => THINGS.has(word) || NOT_CALLED_EITHER.has(word) };
/** Words before `number`, or `no` at the end, that name a thing. */
const NUMBERED = wordSet(
  `customer member client meeting conference event webinar identification employee student loan badge file report vendor supplier
  store terminal check cheque tax flight room seat bed deposit gate house block patient`,
);
/** Other words before `number` that name a phone. After all others it is that of a thing: `patent number`. */
const CALLED = new Set([
  ...SAYS_PHONE,
  ...wordSet(
    `the a an this that following same other another new old current correct right best main second direct private personal business
    home work callback back emergency alternate alternative local international free toll tollfree service support reception doctor
    school hospital s at on to by via under is and or my your his her our their`,
  ),
]);
const NUMBER_OF = /(?<!\p{L})(?:(my|your|his|her|our|their)[ _])?(\p{L}+)[ _]number(?!\p{L})/gu;
/** The number of a thing right before a value: `customer no. (US): `. */
const NUMBERED_BEFORE = /(?<!\p{L})(\p{L}+)[ _-]?(?:no|nr|number)\W{1,3}(?:\([a-z]{2,6}\)\W{1,2})?(?:is )?$/u;
/** Phrases such as `my number` in other languages, which refer to a phone number. */
const SAYS_OWN_NUMBER =
  /(?<!\p{L})(?:mein|dein|ihr|unser|mon|ton|votre|mi|tu|su|mio|tuo|suo|mijn|jouw|mój|meu|seu)e?[nr]? (?:\(?\p{L}{2,10}\)? )?(?:nummer|n[uú]m[eé]ro|numer)(?! d)(?: \p{L}{1,4}){0,3}\W{0,3}$/u;
/** A phrase or a symbol before a phone number: `leave a message at`, `emergency contact: Ada (mother),`. */
const SAYS_REACHED =
  /(?<!\p{L})(?:messages?|hold of (?:me|us|him|her|them)) (?:to|at|on|from)\W{0,2}$|[☎✆📞📱📠]\uFE0F?[:\s]{0,2}$|(?:emergency contact|notfall(?:kontakt)?): ?[^\n;:\d]{2,36},$/u;
/** Things that are sent to, or asked for at, a phone number: `fax your order to`. */
const SENT_TO = /(?<!\p{L})(?:to|at|on)\W{0,2}$/u;
/** A letter before a number in a signature: `T: 020 7946 0018`. */
const LETTER_BEFORE = /(?:^|[\n|,;(•·])\s?[tmpfd](?:[.:)]\s?| )$/u;
/** A number as such: `the number 55436096`. */
const SAYS_NUMBER = /(?<!\p{L})(?:the|a) number$/u;
/** A vCard property (RFC 6350) with its parameters. */
const CARD_PROPERTY = /(?:^|\n)tel;[^:\n]{1,40}:$/;
/** The kind of a number after it: `(03) 5327 5996 office`. */
const SAYS_PHONE_AFTER = /^[ \-(,|]{1,2}(?:office|fax|mobile|cell|home|work|desk|landline|phone|tel)\b/;
export const SURE_DIGITS = 9;

/** Whether a key names a phone number. */
export const isPhoneKey = byKey((key) => hasWord(spaced(key).toLowerCase(), PHONE_KEYS));

/** A number without its extension, which may be a phone's. */
export interface NumberInText extends ReturnType<typeof around> {
  number: string;
  digits: number;
  hasCode: boolean;
  /** Whether it is valid with its country code. */
  isSure: boolean;
  key: string | undefined;
}

/** Whether words say that it is the number of a thing. */
export function isOfThing({ number, words, clause, label, key }: NumberInText): boolean {
  const isSent = (): boolean => SENT_TO.test(clause) && hasWord(withoutNumbersOfThings(clause), SAYS_PHONE);
  return (
    (namesThing(words, NOT_CALLED) && !isSent()) ||
    (label !== "" && endsWith(label, NOT_CALLED)) ||
    (key !== undefined && endsWith(spaced(key).toLowerCase(), NOT_CALLED)) ||
    NUMBERED.has(NUMBERED_BEFORE.exec(words)?.[1] ?? "") ||
    /\p{L}-$|#$/u.test(words.slice(-3)) ||
    // A path's or a URI's: `/orders/212-555-0143`, but `/phones/212-555-0143`.
    (/\p{L}\/$/u.test(words.slice(-3)) && (!/\D/.test(number) || !endsWith(words, PHONE_KEYS)))
  );
}

/** Whether words or its key say that it is a phone's. */
export function isNamed({ number, digits, key, words, clause, label, rest }: NumberInText): boolean {
  const isPlain = !/\D/.test(number);
  // Digits alone may be a count, as in "mobile sessions: 12345678".
  const isFigure = isPlain && (digits < SURE_DIGITS || /[:=]\s*$/.test(clause));
  const says = isFigure ? endsWith : hasWord;
  const saying = withoutNumbersOfThings(isPlain ? clause.replace(SAYS_NUMBER, "") : clause);
  return (
    (key !== undefined && isPhoneKey(key)) ||
    (label !== "" && (says(label, PHONE_KEYS) || CARD_PROPERTY.test(words))) ||
    says(saying, SAYS_PHONE) ||
    SAYS_OWN_NUMBER.test(clause) ||
    SAYS_REACHED.test(words.trimEnd()) ||
    (digits >= SURE_DIGITS && /^\(?0[1-9]/.test(number) && LETTER_BEFORE.test(words)) ||
    SAYS_PHONE_AFTER.test(rest) ||
    // A host or a node may be too: `Host 10012345 erreichbar`.
    (/^[(+]?0|^\+/.test(number) && rest.startsWith(" erreichbar"))
  );
}

function withoutNumbersOfThings(clause: string): string {
  if (!clause.includes("number")) return clause;
  return clause.replaceAll(NUMBER_OF, (number, owner: string | undefined, kind: string) =>
    !NUMBERED.has(kind) && (CALLED.has(kind) || owner !== undefined) ? number : "",
  );
}
