import * as cnpj from "stdnum/lib/cjs/br/cnpj.js";
import * as cpf from "stdnum/lib/cjs/br/cpf.js";
import * as idnr from "stdnum/lib/cjs/de/idnr.js";
import * as dni from "stdnum/lib/cjs/es/dni.js";
import * as nie from "stdnum/lib/cjs/es/nie.js";
import * as nir from "stdnum/lib/cjs/fr/nir.js";
import * as aadhaar from "stdnum/lib/cjs/in/aadhaar.js";
import * as bsn from "stdnum/lib/cjs/nl/bsn.js";
import * as pesel from "stdnum/lib/cjs/pl/pesel.js";
import { weightedSum } from "stdnum/lib/cjs/util/checksum.js";
import { before, byKey, spaced, standsAlone } from "../context.ts";
import type { Detector, Finding, PiiType } from "../context.ts";

/** A number of a person, by which a state or an office knows them. */
interface Kind {
  /** Its written forms. */
  shape: RegExp;
  /** Words before it that say so, or that the name of its key has. */
  words: RegExp;
  /** The forms that need no words. */
  distinct?: RegExp;
  isValid?: (found: string) => boolean;
}

function words(text: string): RegExp {
  return new RegExp(`(?<!\\p{L})(?:${text.split(", ").join("|")})(?!\\p{L})`, "u");
}

const checked =
  ({ validate }: { validate: (text: string) => { isValid: boolean } }) =>
  (found: string): boolean =>
    validate(found).isValid;

const hasDigits =
  (least: number) =>
  (found: string): boolean =>
    digitsOf(found).length >= least;

const NUMBERED = [
  {
    shape: /\d{3}\.\d{3}\.\d{3}-\d{2}|\d{11}/gu,
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
  { shape: /\d{4} ?\d{4} ?\d{4}/gu, words: "aadhaar, aadhar, uidai", isValid: checked(aadhaar) },
  { shape: /[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]/gu, words: "pan, income tax" },
  {
    shape: /\d{2} ?\d{3} ?\d{3} ?\d{3}/gu,
    words: "steuer-?id, steueridentifikationsnummer, steuer-?idnr, idnr, tin",
    isValid: checked(idnr),
  },
  {
    shape: /[12] ?\d{2} ?\d{2} ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}/gu,
    words: "nir, insee, sécurité sociale, securite sociale, sécu, numéro de sécu",
    distinct: /^[12] \d{2} \d{2} /u,
    isValid: checked(nir),
  },
  { shape: /\d{8}-?[A-Z]/gu, words: "dni, nif, documento", isValid: checked(dni) },
  {
    shape: /[XYZ]-?\d{7}-?[A-Z]/gu,
    words: "nie, extranjero",
    distinct: /-/u,
    isValid: checked(nie),
  },
  {
    shape: /\d{4}\.?\d{2}\.?\d{3}/gu,
    words: "bsn, burgerservicenummer, sofinummer",
    isValid: checked(bsn),
  },
  { shape: /\d{11}/gu, words: "pesel", isValid: checked(pesel) },
  { shape: /\d{3}[ -]?\d{3}[ -]?\d{4}/gu, words: "nhs", isValid: passesModulus11 },
  {
    shape: /[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]/gu,
    words: "nino, national insurance, ni number",
    distinct: / \d{2} \d{2} \d{2} /u,
  },
  {
    shape: /9\d{2}[- ](?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])[- ]\d{4}/gu,
    words: "itin",
    distinct: /^\d{3}-\d{2}-\d{4}$/u,
  },
  {
    shape: /[A-Z\d]{6,9}/gu,
    isValid: hasDigits(5),
    words:
      "passports?, passport (?:no|number), reisepass, pass-?nr, passeport, pasaporte, passaporto, passaporte, paspoort, paszport",
  },
  {
    shape: /[A-Z\d](?:[ -]?[A-Z\d]){5,17}/gu,
    words:
      "driver'?s? licen[cs]e, driving licen[cs]e, licen[cs]e (?:no|number), führerschein, permis de conduire, carnet de conducir, patente, rijbewijs, prawo jazdy, habilitação, cnh",
    isValid: hasDigits(5),
  },
  {
    // Not a word in capitals before the number.
    shape: /(?<![\p{L}\d])(?!VAT|TVA|BTW|IVA|ID )[A-Z]{2} ?[A-Z\d](?:[ .]?[A-Z\d]){6,13}/gu,
    words: "vat, vat (?:no|number|id), ust-?id, ust-?idnr, tva, btw, partita iva, p\\. ?iva, nif-iva",
    isValid: hasDigits(7),
  },
] satisfies readonly (Omit<Kind, "words"> & { words: string })[];
const KINDS: readonly Kind[] = NUMBERED.map((kind) => ({ ...kind, words: words(kind.words) }));
const ANY_WORD = words(NUMBERED.map((kind) => kind.words).join(", "));
/** Whether a key says that a number of identity stands under it. */
export const isIdentityKey = byKey((key) => ANY_WORD.test(spaced(key).toLowerCase()));
/** Matches every form that needs no words: groups as no other number has them. */
const DISTINCT =
  /\d{3}\.\d{3}\.\d{3}-|\d{3}\/\d{4}-|[12] \d{2} \d{2} |[XYZ]-\d{7}|[A-Z]{2} \d{2} \d{2} \d{2}|9\d{2}-\d{2}-\d{4}/u;

const BIRTH: Kind = {
  shape:
    /\d{4}-\d{2}-\d{2}|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|\d{1,2}\.? \p{L}{3,10}\.? \d{4}|\p{L}{3,10} \d{1,2},? \d{4}/gu,
  words: words(
    "born, born on, dob, date of birth, birth ?date, birthday, geboren, geboren am, geburtsdatum, né le, née le, date de naissance, nacid[oa], fecha de nacimiento, nascid[oa], data de nascimento, nat[oa] il, data di nascita, geboortedatum, data urodzenia, urodzon[ya]",
  ),
};

/** Finds numbers of identity: of persons to their states, of passports, driving licences and for VAT. */
export const identityDetector: Detector = {
  find(text, key) {
    const isNamed = (key !== undefined && isIdentityKey(key)) || ANY_WORD.test(text.toLowerCase());
    if (!isNamed && !DISTINCT.test(text)) return [];
    return KINDS.flatMap((kind) =>
      isNamed || kind.distinct !== undefined ? findKind(text, key, kind, "NATIONAL_ID") : [],
    );
  },
};

/** Whether a text has a form of such numbers that needs no words. */
export function hasDistinctIdentity(text: string): boolean {
  return DISTINCT.test(text);
}

/** Finds dates of birth, which words or the name of their key tell from other dates. */
export const birthDateDetector: Detector = {
  find(text, key) {
    const isNamed = BIRTH.words.test(text.toLowerCase()) || (key !== undefined && isBirthKey(key));
    return isNamed ? findKind(text, key, BIRTH, "BIRTH_DATE") : [];
  },
};

/** Whether a key says that a date of birth stands under it. */
export const isBirthKey = byKey((key) => BIRTH.words.test(spaced(key).toLowerCase()));

function findKind(text: string, key: string | undefined, kind: Kind, type: PiiType): Finding[] {
  const found: Finding[] = [];
  for (const { 0: match, index: start } of text.matchAll(kind.shape)) {
    const end = start + match.length;
    if (!standsAlone(text, start, end)) continue;
    const isTold = kind.distinct?.test(match) === true || kind.words.test(lastWords(text, start, key));
    if (isTold && kind.isValid?.(match) !== false) found.push({ start, end, type });
  }
  return found;
}

/** The words right before a value: those of an earlier line are of another. */
function lastWords(text: string, start: number, key: string | undefined): string {
  return before(text, start, key).split("\n").at(-1) ?? "";
}

/** The check of the United Kingdom's NHS. */
function passesModulus11(found: string): boolean {
  return weightedSum(digitsOf(found), { weights: [10, 9, 8, 7, 6, 5, 4, 3, 2, 1], modulus: 11 }) === 0;
}

function digitsOf(found: string): string {
  return found.replace(/\D/gu, "");
}
