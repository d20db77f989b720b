import { describe, expect, it } from "vitest";
import { NAMES_BIRTH, NAMES_IDENTITY, NAMES_SECRET, traitsOf } from "./traits.ts";

const NAMES = {
  secret: {
    kind: NAMES_SECRET,
    names:
      `password passwords passwd passphrase pwd passwort kennwort senha contrasena contraseña wachtwoord haslo hasło secret
      api_key apikey api-key access_key accesskey account-key accountkey private_key privatekey signing-key signingkey
      encryption_key encryptionkey sharedaccesskey token bearer basic pin cvv cvv2 cvc csc otp tan
      passcode mdp lösenord zugangscode toegangscode jeton cookie jsessionid mpin cryptogramme prüfziffer jwt geheimzahl
      kartenprüfnummer beveiligingscode`.split(/\s+/),
    phrases: [
      "mot de passe",
      "parola d'ordine",
      "palavra-passe",
      "security code",
      "verification code",
      "confirmation code",
      "código de segurança",
      "código de verificación",
      "kod weryfikacyjny",
      "codice di sicurezza",
      "code d'accès",
      "chiave di accesso",
      "parola chiave",
      "clé API",
      "API-Schlüssel",
      "API-sleutel",
      "chiave API",
      "klucz API",
      "2FA code",
      "SMS code",
      "your code",
      "dein Code",
      "Ihr Code",
      "votre code",
      "tu código",
      "seu código",
    ],
  },
  identity: {
    kind: NAMES_IDENTITY,
    names:
      `cpf cnpj aadhaar aadhar uidai pan steuer-id steuerid steueridentifikationsnummer steuer-idnr idnr tin nir insee sécu
      dni nif documento nie extranjero bsn burgerservicenummer sofinummer pesel nhs nino itin passport passports reisepass
      pass-nr passnr passeport pasaporte passaporto passaporte paspoort paszport führerschein patente rijbewijs habilitação cnh
      vat ust-id ustid ust-idnr ustidnr tva btw iva nip uid id-nr n.i.f. ahv avs svnr rijksregister niss insz personnummer
      personnr personalausweis identiteitskaart steuernummer identifikationsnummer fuehrerschein cni cif contribuinte cédula ni`.split(
        /\s+/,
      ),
    phrases: [
      "income tax",
      "sécurité sociale",
      "securite sociale",
      "national insurance",
      "ni number",
      "driver's license",
      "driving licence",
      "permis de conduire",
      "carnet de conducir",
      "prawo jazdy",
      "partita iva",
      "p. iva",
      "codice fiscale",
      "c.f.",
      "numéro national",
      "identity card",
      "carta d'identità",
      "dowód osobisty",
      "permiso de conducir",
      "permanent account",
      "carte vitale",
      "n° SS",
      "DL number",
      "ID card number",
      "national ID",
      "travel document",
      "documento de identidad",
      "cartão de cidadão",
      "USt.-IdNr",
      "número de IVA",
      "tax ID",
    ],
  },
  birth: {
    kind: NAMES_BIRTH,
    names:
      `born dob birthdate birthday geboren geburtsdatum nacido nacida nascido nascida nascita geboortedatum urodzenia
      urodzony d.o.b. geb. bday geburtstag nascimento nacimiento födelsedatum född`.split(/\s+/),
    phrases: [
      "date of birth",
      "né le",
      "née le",
      "date de naissance",
      "fecha de nacimiento",
      "nato il",
      "nata il",
      "nata a Bari il",
      "née à Liège le",
      "date naissance",
      "né(e) le",
      "nac. 1",
    ],
  },
};

describe("traitsOf", () => {
  it.each(Object.entries(NAMES))(
    "notices every name of a %s, in any case and anywhere",
    (_, { kind, names, phrases }) => {
      const missed = [...names, ...phrases].filter((name) =>
        [name, name.toUpperCase(), `the ${name}: 1`, `(${name})`, `1\n${name} `].some(
          (text) => (traitsOf(text).names & kind) === 0,
        ),
      );
      expect(missed).toEqual([]);
    },
  );

  it("counts the digits of the longest number that is written in groups", () => {
    const joined = (text: string): number => traitsOf(text).joined;
    expect(joined("4111 1111-1111 1111")).toBe(16);
    expect(joined("12,345 and 67")).toBe(3);
    expect(joined("1 (23) 45")).toBe(5);
    expect(joined("1  ( 2")).toBe(1);
    expect(joined("12\u00A034\u201156")).toBe(6);
    expect(joined("2026-02-03T10:11:12Z")).toBe(8);
    expect(joined("no digit")).toBe(0);
  });
});
