import { isWordBefore } from "../digits.ts";
import type { Detector, Finding } from "../types.ts";

/** Lengths of IBANs by country, of the registry of SWIFT and of those in partial use. */
const LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  `AD24 AE23 AL28 AO25 AT20 AX18 AZ28 BA20 BE16 BF28 BG22 BH22 BI27 BJ28 BL27 BR29 BY28 CF27 CG27 CH21 CI28 CM27 CR22
  CV25 CY28 CZ24 DE22 DJ27 DK18 DO28 DZ26 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GA27 GB22 GE22 GF27 GG22 GI23 GL18 GP27
  GQ27 GR27 GT28 GW25 HN28 HR21 HU28 IE22 IL23 IM22 IQ23 IR26 IS26 IT27 JE22 JO30 KM27 KW30 KZ20 LB28 LC32 LI21 LT20
  LU20 LV21 LY25 MA28 MC27 MD24 ME22 MF27 MG27 MK19 ML28 MN20 MQ27 MR27 MT31 MU30 MZ25 NC27 NE28 NI28 NL18 NO15 OM23
  PF27 PK24 PL28 PM27 PS29 PT25 QA29 RE27 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SN28 SO23 ST25 SV28 TD27
  TF27 TG28 TL23 TN24 TR26 UA29 VA22 VG24 WF27 XK20 YE30 YT27`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);
const BEGINNING = /[A-Z]{2}[ -]?\d{2}|[a-z]{2}\d{2}/g;

/** Finds international bank account numbers by country, length and checksum (ISO 13616). */
export const ibanDetector: Detector = {
  find(text) {
    const found: Finding[] = [];
    let least = 0;
    for (const { 0: beginning, index: start } of text.matchAll(BEGINNING)) {
      if (start < least || isWordBefore(text, start)) continue;
      const length = LENGTHS[beginning.slice(0, 2).toUpperCase()];
      if (length === undefined) continue;
      const end = endOf(text, start, length, /^[a-z]/.test(beginning) ? /[a-z\d]/ : /[A-Z\d]/);
      if (end === undefined || /[\p{L}\d]/u.test(text[end] ?? "")) continue;
      if (
        !passesMod97(
          text
            .slice(start, end)
            .replace(/[ \u00A0-]/g, "")
            .toUpperCase(),
        )
      )
        continue;
      found.push({ start, end, type: "IBAN" });
      least = end;
    }
    return found;
  },
};

/** The end of so many letters and digits with single separators between them. */
function endOf(text: string, start: number, length: number, character: RegExp): number | undefined {
  let index = start;
  for (let count = 0; count < length; count += 1) {
    if (count > 0 && (text[index] === " " || text[index] === "-" || text[index] === "\u00A0")) index += 1;
    if (!character.test(text[index] ?? "")) return undefined;
    index += 1;
  }
  return index;
}

function passesMod97(iban: string): boolean {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
