/** The built-in types of values. */
export const PII_TYPES = [
  "EMAIL",
  "PHONE",
  "SSN",
  "CREDIT_CARD",
  "IBAN",
  "IP",
  "MAC",
  "CRYPTO_ADDRESS",
  "NATIONAL_ID",
  "BIRTH_DATE",
  "SECRET",
  "NAME",
  "ADDRESS",
] as const;

/** One of {@link PII_TYPES}, or a custom type: upper case, digits and underscores. */
export type PiiType = (typeof PII_TYPES)[number] | (string & {});

/** A value that was found. Offsets are indices of the string, in UTF-16 code units; the end is exclusive. */
export interface Finding {
  start: number;
  end: number;
  type: PiiType;
}

/** Finds values of one kind in a text. */
export interface Detector {
  /**
   * @param text - Any text.
   * @param key - The key of the text in an object, as a hint: `phone`.
   */
  find(text: string, key?: string): Finding[];
}

/** Finds all matches of a pattern. */
export function findAll(text: string, pattern: RegExp, type: PiiType): Finding[] {
  return [...text.matchAll(pattern)].map(({ 0: match, index: start }) => ({
    start,
    end: start + match.length,
    type,
  }));
}

/** Finds names and addresses, which requires a model. */
export interface Recognizer {
  readonly specificationVersion: "v1";
  /** Finds values in several texts at once, in the order of the texts. */
  recognize(texts: readonly string[], options?: { signal?: AbortSignal | undefined }): Promise<Finding[][]>;
}

/** A run of digits. */
export type DigitGroup = ReturnType<typeof digitSequences>[number][number];

/** A sequence of at least twelve digits. */
const SEQUENCE = /(?=\d(?:[ ./()-]{0,2}\d){11})\d+(?:[ ./()-]{1,2}\d+)*/g;
const GROUP = /\d+/g;
/** A longer sequence is a table of numbers. */
const MAX_SEQUENCE_CHARACTERS = 4_096;

/** Replaces typographic spaces and hyphens by plain ones, keeping offsets. */
export function typed(text: string): string {
  return text.replace(/[\u00A0\u2007-\u2009\u202F]/g, " ").replace(/[\u2010-\u2013]/g, "-");
}

/** Lists possible long numbers written in groups: groups with at most two characters in between. */
export function digitSequences(text: string) {
  return [...text.matchAll(SEQUENCE)]
    .filter(({ 0: { length } }) => length <= MAX_SEQUENCE_CHARACTERS)
    .map(({ 0: match, index }) =>
      [...match.matchAll(GROUP)].map(({ 0: digits, index: at }) => ({
        start: index + at,
        end: index + at + digits.length,
        text: digits,
      })),
    );
}

/** Whether the characters before and after a range belong to the same word or number. */
export function standsAlone(text: string, start: number, end: number): boolean {
  return !isWordBefore(text, start) && !isWordCharacter(text.charCodeAt(end));
}

/** Whether a word ends right before an index. The letter of an escape such as `\n` in a quoted text does not count. */
export function isWordBefore(text: string, start: number): boolean {
  if (start === 0 || !isWordCharacter(text.charCodeAt(start - 1))) return false;
  return !isEscape(text, start - 1);
}

/** Whether the character ends an escape such as `\n` or `\u003c` in a quoted text. */
function isEscape(text: string, index: number): boolean {
  return /\\(?:[nrt]|u[\da-fA-F]{4}|x[\da-fA-F]{2})$/.test(text.slice(Math.max(0, index - 5), index + 1));
}

export function isWordCharacter(code: number): boolean {
  return (
    (code >= 48 && code <= 57) ||
    (code >= 65 && code <= 90) ||
    (code >= 97 && code <= 122) ||
    (code >= 0xc0 && code <= 0x24f)
  );
}

/** A text without certain characters at its end. */
export function withoutEnding(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1] ?? "")) end -= 1;
  return text.slice(0, end);
}

const CHARACTERS_BEFORE = 48;
const CHARACTERS_AFTER = 14;
const MAX_KEY_CHARACTERS = 80;
const WORD = /[\p{L}\p{M}§]+/gu;
const LABEL = /(?<![\p{L}\w-])([\p{L}\w-]{2,40})["']?\s{0,16}[:=]\s{0,16}["']?$/u;
const MAX_FILLERS = 3;
/** Words that may stand between a name and its number: `order number is 123`. */
const FILLERS = wordSet(
  "no nr num number code key is was of at to from me us lautet ist é es est è de di privat dienstlich contacto casa home work",
);
/** Words that say that a number identifies a thing: an order, a place, a moment. */
const THING_WORDS = wordSet(
  `order orders invoice invoices tracking parcel shipment isbn issn ean upc gtin sku asin doi imei vin serial build commit
  version versions ver revision release ticket issue case reference ref id ids uuid guid hash sha md checksum digest timestamp
  timestamps time epoch date nonce seed offset lat lon lng latitude longitude coordinate coordinates price amount total sum
  revenue cost usd eur barcode part model batch lot record row line page count bytes size duration port pid po rma quote zip
  zipcode trace span request transaction txn sequence seq snowflake tweet license licence job inv score drawing kit account acct
  policy claim item product catalog component asset contract docket matter certificate stock ndc meter receipt artikel booking
  reservation registration waybill patent application container consignment manifest pallet incident project equipment machine
  engine chassis prescription rx specimen sample protocol grant routing iccid ein eori confirmation licenses passport voucher
  coupon permit article nhs cpf cnpj aadhaar aadhar pesel bsn steueridentifikationsnummer
  vertrag auftrag bestellung rechnung lieferschein sendung paket vorgang aktenzeichen akte referenz teil serie modell
  produkt beleg buchung angebot material gutschein
  contrat commande facture pièce piece série colis suivi dossier devis lot référence réf article modèle produit sinistre matériel billet
  contrato pedido factura pieza expediente artículo articulo lote modelo producto póliza poliza paquete envío albarán presupuesto
  seguimiento referencia
  encomenda fatura peça processo artigo produto apólice remessa rastreio rastreamento orçamento referência
  contratto ordine pratica fattura pezzo ricambio seriale riferimento rif articolo lotto modello prodotto polizza spedizione collo
  tracciamento preventivo matricola protocollo
  bestelling factuur onderdeel referentie artikel partij product zending pakket offerte
  umowy umowa zamówienia zamówienie faktury faktura części część seryjny seryjnego serii sprawy artykułu artykuł partii modelu produktu
  polisy przesyłki przesyłka paczki paczka oferty referencyjny referencyjnego katalogowy reklamacji zgłoszenia`,
);
/** The same in compounds with the German or Dutch word for number. Any other may name a phone, a card or a person. */
const NUMBER_OF_THING =
  /^(?:vertrag|auftrag|bestell?(?:ung)?|rechnung|lieferschein|sendung|paket|vorgang|akten?|referenz|teile?|polic?e?|versicherung|serie|modell?|produk?t|beleg|buchung|angebot|material|gutschein|artikel|konto|kunde|klant|mitglied|lid|order|ticket|fall|projekt|charge|contract?|dossier|factuur|onderdeel|referentie|partij|zending|pakket|offerte|zaak)[ens]{0,2}(?:nummern?|nr)$/u;
export const THINGS: Words = {
  has: (word) => THING_WORDS.has(word) || NUMBER_OF_THING.test(word),
};

/** Words of this kind that are also HTML elements or generic row elements, which say nothing about their content. */
const ELEMENTS = wordSet("span time article section figure table record row item line page");

/** The context of a value: its key and the text before it, in lower case, with variable names split into words. */
export function before(text: string, start: number, key?: string): string {
  const nearby = start === 0 ? "" : separated(text.slice(Math.max(0, start - CHARACTERS_BEFORE), start));
  return (key === undefined ? nearby : `${spaced(key)}: ${nearby}`).toLowerCase();
}

/** The text around a value in lower case, and the label right before it: `work phone` for `"workPhone": "`. */
export function around(text: string, start: number, end: number) {
  const nearby = text.slice(Math.max(0, start - CHARACTERS_BEFORE), start);
  const isLabelled = ":=".includes(withoutEnding(nearby, "\"' \t").at(-1) ?? "-");
  const label = isLabelled ? separated(LABEL.exec(nearby)?.[1] ?? "").toLowerCase() : "";
  const words = nearby.toLowerCase();
  return {
    words,
    clause: lastClause(words),
    label,
    rest: text.slice(end, end + CHARACTERS_AFTER).toLowerCase(),
  };
}

const MAX_KEYS = 10_000;

/** Memoizes a function by key, since many texts share the same few keys. */
export function byKey<Answer>(answer: (key: string) => Answer): (key: string) => Answer {
  const answers = new Map<string, Answer>();
  return (key) => {
    let known = answers.get(key);
    if (known === undefined) {
      known = answer(key);
      if (answers.size >= MAX_KEYS) answers.clear();
      answers.set(key, known);
    }
    return known;
  };
}

/** `workPhone_number` as words. */
export const spaced = byKey((key) => separated(key.slice(0, MAX_KEY_CHARACTERS)).replace(/[.-]/g, " "));

/** Splits names such as `workPhone_number` into words, which adds a space for each inner capital. */
export function separated(text: string): string {
  return text.replace(/([a-z\d])([A-Z])/g, "$1 $2").replaceAll("_", " ");
}

/** A sentence after one that ends with another number. */
const NEXT_SENTENCE = /(?<=\d)\. \p{L}[^.]*$/u;

/** The text before a value in its own clause. Text before a comma or a line's end belongs to another value. */
export function lastClause(text: string): string {
  const words = text.trimEnd();
  const clause = words.slice(
    Math.max(words.lastIndexOf(","), words.lastIndexOf(";"), words.lastIndexOf("\n")) + 1,
  );
  return clause.slice(clause.search(NEXT_SENTENCE) + 1);
}

/** Whether words end with one of a set, followed by at most a few fillers like `number is`. */
export function endsWith(text: string, names: Words): boolean {
  const words = ofRow(text);
  let end = words.length;
  for (let fillers = 0; fillers <= MAX_FILLERS; fillers += 1) {
    while (end > 0 && !isOfWord(words, end - 1)) end -= 1;
    let start = end;
    while (start > 0 && isOfWord(words, start - 1)) start -= 1;
    const word = words.slice(start, end);
    if (names.has(word)) return !isElement(words, start, word);
    if (!FILLERS.has(word)) return false;
    end = start;
  }
  return false;
}

/** The text before a value in its own row: in a row of numbers, the word before it is that of the heading's last column. */
function ofRow(words: string): string {
  if (!words.includes("\n")) return words;
  const [row = "", above = ""] = words.split("\n").toReversed();
  // A line that ends with a colon is a sentence about what follows.
  return /[,;\t|]/.test(above) && !above.trimEnd().endsWith(":") ? row : words;
}

/** Whether a word is an element name. A closing tag says nothing about what follows. */
function isElement(words: string, start: number, word: string): boolean {
  return words[start - 1] === "<" ? ELEMENTS.has(word) : start > 1 && words.startsWith("</", start - 2);
}

function isOfWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 ? isWordCharacter(code) && code > 64 : /[\p{L}\p{M}§]/u.test(text[at] ?? "");
}

/** A delimiter right before a value, and another one earlier in the line. */
const SECOND_DELIMITER = /[,;\t|][^\n,;\t|]*[,;\t|][ "']{0,2}$/;

/** Whether words or `P/N` identify a thing. In a row of two cells, the first may be a label; in a longer row, it is another value. */
export function namesThing(words: string, names = THINGS): boolean {
  return (
    (endsWith(words, names) || /(?<!\p{L})[ps]\/n\W{0,3}$/u.test(words)) && !SECOND_DELIMITER.test(words)
  );
}

/** Whether words contain one of a set. */
export function hasWord(words: string, names: ReadonlySet<string>): boolean {
  return words !== "" && (words.match(WORD) ?? []).some((word) => names.has(word));
}

/** Words of one meaning. */
export type Words = Pick<ReadonlySet<string>, "has">;

/** A set of words, parsed from one text. */
export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/));
}

/** The extension at the end of a phone number. */
export const PHONE_EXTENSION = / ?(?:x|ext\.? ?|extension )\d{1,6}$/i;

/** Text joined to an IBAN: its name, or a field number of a SWIFT statement (MT940): `?31`. */
export const BEFORE_IBAN = /iban$|\?\d\d$/i;
