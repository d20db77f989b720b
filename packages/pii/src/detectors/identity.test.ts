import { describe, expect, it } from "vitest";
import { createDetector } from "../detect.ts";

const detector = createDetector();
const found = (text: string, key?: string): string[] =>
  detector.find(text, key).map(({ start, end, type }) => `${type} ${text.slice(start, end)}`);

describe("numbers of identity", () => {
  it.each([
    ["CPF 111.444.777-35", "111.444.777-35"],
    ["de 111.444.777-35 para", "111.444.777-35"],
    ["cpf: 11144477735", "11144477735"],
    ["CNPJ 11.222.333/0001-81.", "11.222.333/0001-81"],
    ["Aadhaar number 2345 6789 0124", "2345 6789 0124"],
    ["PAN: ABCPE1234F", "ABCPE1234F"],
    ["Steuer-ID 36 574 261 809", "36 574 261 809"],
    ["Sécurité sociale 2 95 10 99 126 111 93", "2 95 10 99 126 111 93"],
    ["DNI 54362315K", "54362315K"],
    ["con X-5253868-R en", "X-5253868-R"],
    ["BSN: 1112.22.333", "1112.22.333"],
    ["PESEL 44051401359", "44051401359"],
    ["NHS number 943 476 5919", "943 476 5919"],
    ["born in Leeds, QQ 12 34 56 C", undefined],
    ["NINO AB123456C", "AB123456C"],
    ["it is AB 12 34 56 C", "AB 12 34 56 C"],
    ["ITIN 912-70-1234", "912-70-1234"],
    ["Passport number: C01X00T47", "C01X00T47"],
    ["Reisepass C01X00T47", "C01X00T47"],
    ["driver's license D123-4567-8901", "D123-4567-8901"],
    ["DL# N516831423239", "N516831423239"],
    ["Führerschein B072RRE2I55", "B072RRE2I55"],
    ["USt-IdNr. DE136695976", "DE136695976"],
    ["UStID DE136695976", "DE136695976"],
    ['"documento":"X1234567L"', "X1234567L"],
    ["seria i numer dowodu: ABC123456", "ABC123456"],
    ["ITIN: 912 70 1234", "912 70 1234"],
    ["Passeport 14AB60052 valable", "14AB60052"],
    ["Passaporto YA1234567", "YA1234567"],
    ["Passaporte FX123456", "FX123456"],
    ["Reisepassnummer: C01X00T47", "C01X00T47"],
    ["Führerscheinnummer B072RRE2I55", "B072RRE2I55"],
    ["driving_licence: MORGA753116SM9IJ", "MORGA753116SM9IJ"],
    ["N.I.F. 54362315K", "54362315K"],
    ["NIP 467-351-04-67", "467-351-04-67"],
    ["RSSMRA90D12H501I", "RSSMRA90D12H501I"],
    ["756.5607.4451.02", "756.5607.4451.02"],
    ["85.04.28-983.87", "85.04.28-983.87"],
    ["personnummer 850119-1152", "850119-1152"],
    ["SVNR 2348 150885", "2348 150885"],
    ["Personalausweisnummer T220001293", "T220001293"],
    ["ITIN: 920703225", "920703225"],
    ["CPF 111444777-35", "111444777-35"],
    ["CPF 111 444 777 35", "111 444 777 35"],
    ["BSN 111 222 333", "111 222 333"],
    ["NI No CE-53-35-84-A", "CE-53-35-84-A"],
    ["NIR 2-95-10-99-126-111-93", "2-95-10-99-126-111-93"],
    ["Steuernummer 36574261809", "36574261809"],
    ["UID ATU12345678", "ATU12345678"],
    ["NIP PL4673510467", "PL4673510467"],
    ["USt.-IdNr. DE136695976", "DE136695976"],
    ["MWST UID CHE-123.456.789", "CHE-123.456.789"],
    ["permiso de conducción 12345678", "12345678"],
    ["My license number is D1234567", "D1234567"],
    ["nr prawa jazdy 12345678", "12345678"],
  ])("are found, by their check or the words before them: %s", (text, value) => {
    expect(found(text).filter((one) => one.startsWith("NATIONAL_ID"))).toEqual(
      value === undefined ? [] : [`NATIONAL_ID ${value}`],
    );
  });

  it.each([
    ["44051401359", "pesel"],
    ["54362315K", "dni"],
    ["C01X00T47", "passportNumber"],
    ["AB123456C", "national_insurance"],
    ["36574261809", "Steuer-ID"],
    ["36574261809", "IdNr"],
    ["DE136695976", "USt-IdNr"],
    ["54362315k", "dni"],
    ["C01X00T47", "idCardNumber"],
    ["C01X00T47", "nationalId"],
    ["D1234567", "dlNumber"],
    ["B072RRE2I55", "fuehrerschein"],
  ])("are found under a key that says so: %s", (text, key) => {
    expect(found(text, key)).toEqual([`NATIONAL_ID ${text}`]);
    expect(found(text, "code")).toEqual([]);
  });

  it.each([
    "CPF 111.444.777-36",
    "111.444.777-36",
    "11.222.333/0001-82",
    "Aadhaar number 2345 6789 0125",
    "PESEL 44051401358",
    "NHS number 943 476 5918",
    "DNI 54362315A",
    "order 11144477735",
    "CPF format: 000.000.000-00",
    "part no. AB-1234-56C",
    "We passed the passport control in 2019.",
    "The company has 12 345 678 901 shares",
    "version 1.2.3-45",
    "passport control at gate 12345678",
    'import passport from "passport"; // 12345678',
    "driver's license renewal 2026-01-02",
    "business licence no 12345678",
    "patente europea EP1234567",
    "The passport that we saw at the office of 12345678",
  ])("are none where the check fails or nothing says so: %s", (text) => {
    expect(found(text).filter((one) => one.startsWith("NATIONAL_ID"))).toEqual([]);
  });
});

describe("dates of birth", () => {
  it.each([
    ["born on 1990-02-03 in Rome", "1990-02-03"],
    ["DOB: 02/03/1990", "02/03/1990"],
    ["geboren am 3.2.1990", "3.2.1990"],
    ["née le 3 février 1990", "3 février 1990"],
    ["Fecha de nacimiento: 03/02/1990", "03/02/1990"],
    ["data di nascita 03-02-1990", "03-02-1990"],
    ["ur. 5 października 1979", "5 października 1979"],
    ["Né(e) le : 05/03/1979", "05/03/1979"],
    ["geboren 5. 3. 1979", "5. 3. 1979"],
    ["born 1979-3-5", "1979-3-5"],
    ["nacida el 5 de julio del 1975", "5 de julio del 1975"],
    ["dob: 19790305", "19790305"],
    ["BDAY:1979-03-05", "1979-03-05"],
    ["nato a Reggio Calabria il 5/3/1979", "5/3/1979"],
    ["DOB 1979年3月5日", "1979年3月5日"],
  ])("are told by words: %s", (text, value) => {
    expect(found(text)).toEqual([`BIRTH_DATE ${value}`]);
  });

  it.each([
    ["DOB 1970-05-12, admitted 2024-03-01, discharged 2024-03-09", ["1970-05-12"]],
    ['{"dob":"1970-05-12","created":"2024-03-01"}', ["1970-05-12"]],
    ["Geburtsdatum: 12.05.1970, Eintritt: 01.03.2019", ["12.05.1970"]],
    ["born on 12 May 1970 and 3 June 1972", ["12 May 1970", "3 June 1972"]],
    [
      "DOB 1970-05-12/1971-06-13, seen 2020-01-01, dob 1972-07-14",
      ["1970-05-12", "1971-06-13", "1972-07-14"],
    ],
  ])("are those right after the words, and no later ones: %s", (text, values) => {
    expect(found(text)).toEqual(values.map((value) => `BIRTH_DATE ${value}`));
  });

  it("are told by the name of their key, and other dates are left", () => {
    expect(found("1990-02-03", "dateOfBirth")).toEqual(["BIRTH_DATE 1990-02-03"]);
    expect(found("1990-02-03", "geburtsdatum")).toEqual(["BIRTH_DATE 1990-02-03"]);
    for (const key of ["birth", "birth_dt", "bday", "fecha_nac", "naissance"])
      expect(found("1990-02-03", key)).toEqual(["BIRTH_DATE 1990-02-03"]);
    expect(found("1990-02-03", "created")).toEqual([]);
    expect(found("born on 2990-02-03")).toEqual([]);
    expect(found("The birthday party on 2020-02-03")).toEqual([]);
    expect(found("The invoice of 03/02/1990")).toEqual([]);
  });
});

describe("addresses of devices and of wallets", () => {
  it("are found by their form", () => {
    expect(found("at 00:1A:2B:3C:4D:5E now")).toEqual(["MAC 00:1A:2B:3C:4D:5E"]);
    const ethereum = "0x52908400098527886E0F7030069857D2E4169EE7";
    const bitcoin = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq";
    expect(found(`${ethereum} or ${bitcoin}`)).toEqual([
      `CRYPTO_ADDRESS ${ethereum}`,
      `CRYPTO_ADDRESS ${bitcoin}`,
    ]);
    expect(found("commit 52908400098527886e0f7030069857d2e4169ee7, 00:1A:2B:3C, 12:30:45")).toEqual([]);
  });
});

describe("codes and passwords in other languages", () => {
  it.each([
    ["Passwort: Sommer2024", "Sommer2024"],
    ["senha=abc12345", "abc12345"],
    ["CVV: 123", "123"],
    ["PIN is 4821", "4821"],
  ])("are found: %s", (text, value) => {
    expect(found(text)).toEqual([`SECRET ${value}`]);
  });

  it.each([
    ["hunter22", "contraseña"],
    ["4821", "pin"],
    ["123", "cvv"],
    ["123456", "otp"],
  ])("are found under their key: %s", (text, key) => {
    expect(found(text, key)).toEqual([`SECRET ${text}`]);
    expect(found(text, "count")).toEqual([]);
  });
});

it("finds French numbers in pairs where the region is France", () => {
  const french = createDetector({ regions: ["FR"] });
  expect(french.find("Appelez 06 12 34 56 78")).toMatchObject([{ type: "PHONE", start: 8, end: 22 }]);
  expect(french.find("01 02 03 04 05 06")).toEqual([]);
});
