import * as vnr from "stdnum/lib/cjs/at/vnr.js";
import * as nn from "stdnum/lib/cjs/be/nn.js";
import * as cnpj from "stdnum/lib/cjs/br/cnpj.js";
import * as cpf from "stdnum/lib/cjs/br/cpf.js";
import * as ahv from "stdnum/lib/cjs/ch/ssn.js";
import * as idnr from "stdnum/lib/cjs/de/idnr.js";
import * as dni from "stdnum/lib/cjs/es/dni.js";
import * as nie from "stdnum/lib/cjs/es/nie.js";
import * as nir from "stdnum/lib/cjs/fr/nir.js";
import * as aadhaar from "stdnum/lib/cjs/in/aadhaar.js";
import * as codiceFiscale from "stdnum/lib/cjs/it/codicefiscale.js";
import * as iva from "stdnum/lib/cjs/it/iva.js";
import * as bsn from "stdnum/lib/cjs/nl/bsn.js";
import * as nip from "stdnum/lib/cjs/pl/nip.js";
import * as pesel from "stdnum/lib/cjs/pl/pesel.js";
import * as personnummer from "stdnum/lib/cjs/se/personnummer.js";
import { weightedSum } from "stdnum/lib/cjs/util/checksum.js";
import { isOfThing } from "./account-numbers.ts";
import { before, byKey, separated, spaced, standsAlone } from "../context.ts";
import type { Detector, Finding, PiiType } from "../context.ts";

/** A kind of personal identity number. */
interface Kind {
  /** Its written forms. */
  shape: RegExp;
  /** Words before it or in its key that identify it. */
  words: RegExp;
  /** Distinctive forms, which need no words. */
  distinct?: RegExp;
  isValid?: (found: string) => boolean;
  /** Whether many other numbers have its form, so that there may be at most three other words in between. */
  isNear?: boolean;
}

const NEAR = "[^\\p{L};]{0,24}(?:\\p{L}{1,24}[^\\p{L};]{1,24}){0,3}$";

/** Matches names as words, including German compounds with a word for number. */
function words(text: string): RegExp {
  return new RegExp(`(?<!\\p{L})(?:${text.split(", ").join("|")})(?:nummer|nr)?(?!\\p{L})`, "u");
}

const checked =
  ({ validate }: { validate: (text: string) => { isValid: boolean } }) =>
  (found: string): boolean =>
    !/^(\d)(?:\D?\1)+$/u.test(found) && validate(found.toUpperCase().replaceAll(/[ .]/gu, "")).isValid;

const DATE = /^(?:19|20)\d{2}[- ]?(?:0[1-9]|1[0-2])[- ]?(?:0[1-9]|[12]\d|3[01])$/u;
const hasDigits =
  (least: number) =>
  (found: string): boolean =>
    found.replace(/\D/gu, "").length >= least && !DATE.test(found);

const NUMBERED = [
  {
    shape: /\d{3}[ .]?\d{3}[ .]?\d{3}[ -]?\d{2}/gu,
    words: "cpf",
    distinct: /^\d{3}\./u,
    isValid: checked(cpf),
  },
  {
    shape: /\d{2}\.\d{3}\.\d{3}\/\d{4}-\d{2}|\d{14}/gu,
    words: "cnpj",
    distinct: /\//u,
    isValid: checked(cnpj),
  },
  { shape: /\d{4}[ -]?\d{4}[ -]?\d{4}/gu, words: "aadhaar, aadhar, uidai, uid", isValid: checked(aadhaar) },
  { shape: /[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]/giu, words: "pan, permanent account, income tax" },
  {
    shape: /\d{2} ?\d{3} ?\d{3} ?\d{3}/gu,
    words:
      "steuer[- ]?id, (?:steuer ?|steuerliche )?identifikations, steuer(?=nr|nummer), steuer[- ]?id ?nr, id ?nr, tin, tax ?id",
    isValid: checked(idnr),
  },
  {
    shape: /[12][ .-]?\d{2}[ .-]?\d{2}[ .-]?\d[\dAB][ .-]?\d{3}[ .-]?\d{3}[ .-]?\d{2}/gu,
    words: "nir, insee, n° ss, carte vitale, sécurité sociale, securite sociale, sécu, numéro de sécu",
    distinct: /^[12] \d{2} \d{2} /u,
    isValid: (found) => checked(nir)(found.replaceAll("-", "")),
  },
  {
    shape: /(?:\d{8}|\d{2}\.\d{3}\.\d{3})[- ]?[A-Z]/giu,
    words: "dni, d\\.n\\.i\\., nif, n\\.i\\.f\\., documento",
    isValid: checked(dni),
  },
  {
    shape: /[XYZ]-?\d{7}-?[A-Z]/giu,
    words: "nie, extranjero, documento",
    distinct: /^[XYZ]-/u,
    isValid: checked(nie),
  },
  {
    shape: /\d{4}[ .]?\d{2}[ .]?\d{3}|\d{3}[ .]\d{3}[ .]\d{3}/gu,
    words: "bsn, burgerservicenummer, sofinummer",
    isValid: checked(bsn),
  },
  { shape: /\d{11}/gu, words: "pesel", isValid: checked(pesel) },
  { shape: /\d{3}-\d{3}-\d{2}-\d{2}|\d{10}/gu, words: "nip", isValid: checked(nip) },
  {
    shape: /[A-Z]{6}\d{2}[A-EHLMPR-T]\d{2}[A-Z]\d{3}[A-Z]/giu,
    words: "codice fiscale, c\\.f\\.",
    distinct: /^[A-Z]{6}\d/u,
    isValid: checked(codiceFiscale),
  },
  {
    shape: /756(?:\.\d{4}\.\d{4}\.\d{2}|\d{10})/gu,
    words: "ahv, avs, sozialversicherungs",
    distinct: /^756\./u,
    isValid: checked(ahv),
  },
  { shape: /\d{4} ?\d{6}/gu, words: "svnr, sv, sozialversicherungs", isValid: checked(vnr) },
  {
    shape: /\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}|\d{11}/gu,
    words: "rijksregister, numéro national, registre national, niss, insz",
    distinct: /^\d{2}\./u,
    isValid: checked(nn),
  },
  { shape: /(?:\d{2})?\d{6}[-+]?\d{4}/gu, words: "personnummer, personnr", isValid: checked(personnummer) },
  { shape: /\d{3}[ -]?\d{3}[ -]?\d{4}/gu, words: "nhs", isValid: passesModulus11 },
  {
    shape: /[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][ -]?\d{2}[ -]?\d{2}[ -]?\d{2}[ -]?[A-D]/giu,
    words: "nino, national insurance, ni(?: number| no)?",
    distinct: /^[A-Z]{2} \d{2} \d{2} \d{2} [A-Z]/u,
  },
  {
    shape: /9\d{2}[- ]?(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])[- ]?\d{4}/gu,
    words: "itin",
    distinct: /^\d{3}-\d{2}-\d{4}$/u,
  },
  {
    shape: /[A-Z\d]{6,12}/gu,
    isValid: hasDigits(4),
    isNear: true,
    words:
      "passports?(?!.(?:control|local|office|photo)), reisepass, pass-?(?=nr|nummer), passeport, pasaporte, passaporto, passaporte, paspoort, paszportu?, personalausweis, ausweis-?(?=nr|nummer), identity card, id card, national id, travel document, documento de identidad, cédula, cni, cartão de cidadão, carte d'identité, carta d'identità, identiteitskaart, dow[oó]d osobisty, dowodem osobistym, numer dowodu(?!.(?:wp|zap|dost|zak|ksi|rej))",
  },
  {
    shape: /[A-Z\d](?:[ -]?[A-Z\d]){5,17}/gu,
    words:
      "driver['’]?s? licen[cs]e, driving licen[cs]e, (?:(?<!\\p{L} )|(?<=(?:my|your|his|her|their) ))licen[cs]e (?:no|number), dl ?(?:#|no|number), f(?:ü|ue)hrerscheins?, permis (?:de )?conduire, num[eé]ro de permis, (?:carnet|permiso|licencia) (?:de )?(?:conducir|conducción), patente(?! europea), carta de condução, rijbewijs, praw[oa] jazdy, habilitação, cnh",
    isValid: hasDigits(5),
    isNear: true,
  },
  {
    // Excludes a capitalized word before the number.
    shape:
      /(?<![\p{L}\d])(?!VAT|TVA|BTW|IVA|(?:UID|NIF|NIP|CIF|ID) )(?:(?=[A-Z]{2} ?[A-Z]{0,2}[ .]?\d)[A-Z]{2} ?[A-Z\d](?:[ .]?[A-Z\d]){6,13}|CHE-\d{3}\.\d{3}\.\d{3})/gu,
    words:
      "vat, vat (?:no|number|id), ust\\.?[- ]?id, ust\\.?[- ]?id ?nr, umsatzsteuer-id(?:entifikations)?, uid, tva, btw, partita iva, p\\.? ?iva, nif[- ]iva, n[uú]mero de iva, nif, nip, cif, contribuinte",
    isValid: hasDigits(7),
  },
  // Italian ones may have no country.
  { shape: /\d{11}/gu, words: "vat, vat (?:no|number|id), partita iva, p\\.? ?iva", isValid: checked(iva) },
] satisfies readonly (Omit<Kind, "words"> & { words: string })[];
const KINDS: readonly Kind[] = NUMBERED.map((kind) => {
  const named = words(kind.words);
  return { ...kind, words: "isNear" in kind ? new RegExp(named.source + NEAR, "u") : named };
});
const ANY_WORD = words(NUMBERED.map((kind) => kind.words).join(", "));
/** Whether a key names an identity number. */
export const isIdentityKey = byKey((key) => ANY_WORD.test(spaced(key).toLowerCase()));
/** Matches every distinctive form, whose groups no other number has. */
export const DISTINCT_IDENTITY =
  /\d{3}\.\d{3}\.\d{3}-|\d{3}\/\d{4}-|756\.\d{4}\.|\d{2}\.\d{2}\.\d{2}-\d{3}\.|[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}|[12] \d{2} \d{2} |[XYZ]-\d{7}|[A-Z]{2} \d{2} \d{2} \d{2}|9\d{2}-\d{2}-\d{4}/u;

const BIRTH: Kind = {
  shape:
    /\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]\d{2}:[\d:.]{2,12}(?:Z|[+-]\d\d:?\d\d)?)?|\d{4}年\d{1,2}月\d{1,2}日|(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|\d{1,2}(?:[/-]|\. ?)\d{1,2}(?:[/-]|\. ?)\d{2,4}|\d{1,2}(?:st|nd|rd|th|er|º|\.)?(?: de | of |[ -])\p{L}{3,12}\.?(?: del? |[ ,-]{1,2})\d{4}|\p{L}{3,12}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}/gu,
  words: words(
    "born, born on, dob, d\\.o\\.b\\.?, date of birth, birth ?date, birthday(?! party), bday, (?:birth|birth dt|geburt|naissance|f(?:echa|\\.) nac\\.?)(?=:|$), geboren, geboren am, geb\\.?(?: am)?, geburtsdatum, geburtstag(?! feier), n[eé]e?(?:\\(e\\))? le, n[eé]e? à [\\p{L}' -]{2,30} le, date (?:de )?naissance, nacid[oa], (?:fecha (?:de )?)?nacimiento, nascid[oa], nasc\\.?, (?:data (?:de )?)?nascimento, nat[oa] (?:a (?:\\p{L}{2,20} ){1,3})?il, nací el, nac\\., född, data (?:di )?nascita, geboortedatum, data urodzenia, urodzon[ya], ur\\., födelsedatum, 生年月日, 出生日期",
  ),
  isValid: (found) => Number(/\d{4}/u.exec(found)?.[0] ?? 0) <= new Date().getFullYear(),
};

/** Finds identity numbers: national ids, passports, driving licences and VAT numbers. */
export const identityDetector: Detector = {
  find(text, key) {
    const isNamed = (key !== undefined && isIdentityKey(key)) || ANY_WORD.test(separated(text).toLowerCase());
    if (!isNamed && !DISTINCT_IDENTITY.test(text)) return [];
    return KINDS.flatMap((kind) =>
      isNamed || kind.distinct !== undefined ? findKind(text, key, kind, "NATIONAL_ID") : [],
    );
  },
};

/** Finds dates of birth, which are identified by words or their key. */
export const birthDateDetector: Detector = {
  find(text, key) {
    const isNamed = (key !== undefined && isBirthKey(key)) || BIRTH.words.test(separated(text).toLowerCase());
    return isNamed ? findKind(text, key, BIRTH, "BIRTH_DATE") : [];
  },
};

/** Whether a key names a date of birth. */
export const isBirthKey = byKey((key) => BIRTH.words.test(spaced(key).toLowerCase()));

/** Between dates that the same words tell. */
const LISTED = /^[^\p{L}\d]{0,4}(?:(?:and|or|und|oder|et|ou|y|o|e|en|i)[^\p{L}\d]{1,2})?$/u;

function findKind(text: string, key: string | undefined, kind: Kind, type: PiiType): Finding[] {
  const found: Finding[] = [];
  for (const { 0: match, index: start } of text.matchAll(kind.shape)) {
    const end = start + match.length;
    if (!standsAlone(text, start, end)) continue;
    const last = found.at(-1)?.end ?? 0;
    const from = kind !== BIRTH || LISTED.test(text.slice(last, start)) ? 0 : last;
    // Words on an earlier line, or before another number and a semicolon, belong to another value.
    const isTold =
      (kind.distinct?.test(match) === true &&
        // A form without a check is that of other numbers, too.
        (kind.isValid !== undefined || !isOfThing(before(text, start, key)))) ||
      kind.words.test(
        before(text.slice(from), start - from, key)
          .split(/\n|\d; (?=\p{L})/u)
          .at(-1) ?? "",
      );
    if (isTold && kind.isValid?.(match) !== false) found.push({ start, end, type });
  }
  return found;
}

/** The checksum of UK NHS numbers. */
function passesModulus11(found: string): boolean {
  const digits = found.replace(/\D/gu, "");
  return weightedSum(digits, { weights: [10, 9, 8, 7, 6, 5, 4, 3, 2, 1], modulus: 11 }) === 0;
}
