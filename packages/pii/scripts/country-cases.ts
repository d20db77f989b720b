// Texts of ten countries with numbers made by the public rules of each, and as many that only look like it.

/** A text, with the value that stands in it; without one where it only looks like it. */
export interface CountryCase {
  country: string;
  type: string;
  text: string;
  value?: string;
}

interface Kind {
  type: string;
  /** A number of this kind, from so many digits by chance. */
  make: (digit: () => number) => string;
  /** Sentences with `#` in its place. */
  says: string[];
  /** The same with a wrong check digit, under the same words. Absent where there is none. */
  wrong?: (valid: string) => string;
}

const sum = (digits: readonly number[], weights: readonly number[]): number =>
  digits.reduce((total, digit, at) => total + digit * (weights[at] ?? 0), 0);
const take = (count: number, digit: () => number, first = 1): number[] =>
  Array.from({ length: count }, (_, at) => (at === 0 ? first + (digit() % (10 - first)) : digit()));
const down = (from: number): number[] => Array.from({ length: from - 1 }, (_, at) => from - at);
const grouped = (digits: string, ...sizes: number[]): string[] => {
  let at = 0;
  return sizes.map((size) => digits.slice(at, (at += size)));
};
/** Another last digit. */
const lastChanged = (valid: string): string =>
  valid.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 3) % 10));
const letterChanged = (valid: string): string => valid.slice(0, -1) + (valid.endsWith("T") ? "R" : "T");

function cpf(digit: () => number): string {
  const digits = take(9, digit);
  for (const weights of [down(10), down(11)]) {
    const rest = (sum(digits, weights) * 10) % 11;
    digits.push(rest === 10 ? 0 : rest);
  }
  const [a, b, c, d] = grouped(digits.join(""), 3, 3, 3, 2);
  return `${a}.${b}.${c}-${d}`;
}

function cnpj(digit: () => number): string {
  const digits = [...take(8, digit), 0, 0, 0, 1];
  for (const weights of [
    [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2],
    [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2],
  ]) {
    const rest = sum(digits, weights) % 11;
    digits.push(rest < 2 ? 0 : 11 - rest);
  }
  const [a, b, c, d, e] = grouped(digits.join(""), 2, 3, 3, 4, 2);
  return `${a}.${b}.${c}/${d}-${e}`;
}

const D = Array.from({ length: 10 }, (_, a) =>
  Array.from({ length: 10 }, (_unused, b) => {
    const rest = a < 5 ? (a + b) % 5 : (a - b + 10) % 5;
    return rest + (a < 5 === b < 5 ? 0 : 5);
  }),
);
const P = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

function aadhaar(digit: () => number): string {
  const digits = take(11, digit, 2);
  for (let last = 0; ; last += 1) {
    let check = 0;
    for (const [at, one] of [last, ...digits.toReversed()].entries()) {
      let turned = one;
      for (let turn = 0; turn < at % 8; turn += 1) turned = P[turned] ?? 0;
      check = D[check]?.[turned] ?? 0;
    }
    if (check === 0) return grouped([...digits, last].join(""), 4, 4, 4).join(" ");
  }
}

const letter = (digit: () => number): string => "ABCDEFGHJKLMNPRSTUWY"[digit() * 2 + (digit() % 2)] ?? "A";
const pan = (digit: () => number): string =>
  `${letter(digit)}${letter(digit)}${letter(digit)}P${letter(digit)}${take(4, digit).join("")}${letter(digit)}`;

/** Ten digits of which exactly one comes twice, and a check by ISO 7064. */
function steuerId(digit: () => number): string {
  const order = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  for (let at = 9; at > 0; at -= 1) {
    const other = (digit() * 10 + digit()) % (at + 1);
    [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
  }
  const digits = order[0] === 0 ? order.toReversed() : order;
  digits[9] = digits[0] ?? 1;
  let product = 10;
  for (const one of digits) {
    const rest = (one + product) % 10 || 10;
    product = (rest * 2) % 11;
  }
  const check = 11 - product;
  return grouped([...digits, check === 10 ? 0 : check].join(""), 2, 3, 3, 3).join(" ");
}

function nir(digit: () => number): string {
  const body = `${1 + (digit() % 2)}${50 + (digit() % 10) * 4}${String(1 + digit()).padStart(2, "0")}75${take(3, digit).join("")}${take(3, digit).join("")}`;
  const key = String(97 - Number(BigInt(body) % 97n)).padStart(2, "0");
  return grouped(body + key, 1, 2, 2, 2, 3, 3, 2).join(" ");
}

const DNI = "TRWAGMYFPDXBNJZSQVHLCKE";
const dni = (digit: () => number): string => {
  const number = take(8, digit).join("");
  return number + (DNI[Number(number) % 23] ?? "");
};
const nie = (digit: () => number): string => {
  const number = take(7, digit).join("");
  return `X-${number}-${DNI[Number(number) % 23] ?? ""}`;
};

function withCheck(
  digit: () => number,
  count: number,
  weights: readonly number[],
  check: (total: number) => number,
): string {
  for (;;) {
    const digits = take(count, digit);
    const last = check(sum(digits, weights));
    if (last < 10) return [...digits, last].join("");
  }
}
const bsn = (digit: () => number): string => withCheck(digit, 8, down(9), (total) => total % 11);
const nhs = (digit: () => number): string =>
  grouped(
    withCheck(digit, 9, down(10), (total) => (11 - (total % 11)) % 11),
    3,
    3,
    4,
  ).join(" ");
const pesel = (digit: () => number): string => {
  const digits = [7, digit(), 0, 1 + (digit() % 9), 1, digit(), ...take(4, digit)];
  return [...digits, (10 - (sum(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10)) % 10].join("");
};
const nino = (digit: () => number): string => `AB ${grouped(take(6, digit).join(""), 2, 2, 2).join(" ")} C`;
const itin = (digit: () => number): string =>
  `9${take(2, digit).join("")}-7${digit()}-${take(4, digit).join("")}`;
const ssn = (digit: () => number): string =>
  `${1 + (digit() % 5)}${take(2, digit).join("")}-${take(2, digit).join("")}-${take(4, digit).join("")}`;
const passport =
  (prefix: string, count: number) =>
  (digit: () => number): string =>
    prefix + take(count, digit).join("");
const born =
  (write: (day: string, month: string, year: string) => string) =>
  (digit: () => number): string =>
    write(String(10 + digit()), `0${1 + (digit() % 9)}`, `19${5 + (digit() % 5)}${digit()}`);
const dots = born((day, month, year) => `${day}.${month}.${year}`);
const slashes = born((day, month, year) => `${day}/${month}/${year}`);
const phone =
  (write: (digits: string) => string, count: number) =>
  (digit: () => number): string =>
    write(take(count, digit, 2).join(""));

const kind = (type: string, make: Kind["make"], says: string[], wrong?: Kind["wrong"]): Kind => ({
  type,
  make,
  says,
  ...(wrong && { wrong }),
});
const ID = "NATIONAL_ID";

const COUNTRIES: Record<string, { kinds: Kind[]; other: string[] }> = {
  US: {
    kinds: [
      kind("SSN", ssn, ["My SSN is #.", "Social security number: #, on file."]),
      kind(ID, itin, ["Her ITIN is #.", "Filed under ITIN #"]),
      kind(ID, passport("C0", 7), ["US passport number # expires soon.", "Passport no # was scanned"]),
      kind(
        "PHONE",
        phone((d) => `(2${d.slice(0, 2)}) 5${d.slice(2, 4)}-${d.slice(4, 8)}`, 8),
        ["Call me at # after six.", "# is my cell"],
      ),
      kind("BIRTH_DATE", slashes, ["Date of birth: #", "He was born on # in Ohio."]),
    ],
    other: [
      "Order number # has shipped.",
      "Invoice # is due on Friday.",
      "Part # fits all models.",
      "Tracking number #",
      "Build # failed.",
    ],
  },
  GB: {
    kinds: [
      kind(ID, nhs, ["Her NHS number is #.", "NHS no. #, seen today"], lastChanged),
      kind(ID, nino, ["My National Insurance number is #.", "NINO: #"]),
      kind(ID, passport("5", 8), ["British passport number #", "Passport # was renewed."]),
      kind(
        "PHONE",
        phone((d) => `020 7${d.slice(0, 3)} ${d.slice(3, 7)}`, 7),
        ["Ring me on # please.", "Our office phone: #"],
      ),
      kind("BIRTH_DATE", slashes, ["DOB #", "She was born on #."]),
    ],
    other: [
      "Order number # was dispatched.",
      "Reference # on all letters.",
      "Invoice # is overdue.",
      "Parcel #",
      "Batch # recalled.",
    ],
  },
  DE: {
    kinds: [
      kind(ID, steuerId, ["Meine Steuer-ID lautet #.", "Steueridentifikationsnummer: #"], lastChanged),
      kind(ID, passport("C01X", 5), ["Reisepass # ist abgelaufen.", "Pass-Nr: #"]),
      kind(ID, (d) => `DE${take(9, d).join("")}`, ["Unsere USt-IdNr: #", "USt-ID # auf der Rechnung"]),
      kind(
        "PHONE",
        phone((d) => `030 ${d.slice(0, 8)}`, 8),
        ["Telefon: #", "Sie erreichen mich mobil unter #."],
      ),
      kind("BIRTH_DATE", dots, ["Geburtsdatum: #", "Er wurde geboren am # in Kiel."]),
    ],
    other: [
      "Bestellnummer # ist unterwegs.",
      "Rechnung # ist offen.",
      "Artikel # passt.",
      "Vorgang # wurde erledigt.",
      "Sendung #",
    ],
  },
  FR: {
    kinds: [
      kind(ID, nir, ["Mon numéro de sécurité sociale est #.", "NIR : #"], lastChanged),
      kind(ID, passport("14AB", 5), ["Passeport # valable.", "Numéro de passeport #"]),
      kind(ID, (d) => `FR${take(11, d).join("")}`, ["TVA #", "Numéro de TVA : #"]),
      kind(
        "PHONE",
        phone((d) => `06 ${grouped(d, 2, 2, 2, 2).join(" ")}`, 8),
        ["Appelez-moi au #.", "Téléphone : #"],
      ),
      kind("BIRTH_DATE", slashes, ["Date de naissance : #", "Elle est née le # à Lyon."]),
    ],
    other: ["Commande # expédiée.", "Facture # à payer.", "Colis # livré.", "Dossier # clos.", "Lot #"],
  },
  ES: {
    kinds: [
      kind(ID, dni, ["Mi DNI es #.", "DNI: #"], letterChanged),
      kind(ID, nie, ["Su NIE es #.", "NIE # vigente"], letterChanged),
      kind(ID, passport("PAA", 6), ["Pasaporte # caducado.", "Número de pasaporte #"]),
      kind(
        "PHONE",
        phone((d) => `6${d.slice(0, 2)} ${d.slice(2, 5)} ${d.slice(5, 8)}`, 8),
        ["Teléfono: #", "Llámame al tel # mañana."],
      ),
      kind("BIRTH_DATE", slashes, ["Fecha de nacimiento: #", "Nacida el # en Vigo: nacida #"]),
    ],
    other: [
      "Pedido # enviado.",
      "Factura # pendiente.",
      "Paquete # entregado.",
      "Expediente # cerrado.",
      "Lote #",
    ],
  },
  IT: {
    kinds: [
      kind(ID, (d) => `IT${take(11, d).join("")}`, ["Partita IVA #", "P. IVA: #"]),
      kind(ID, passport("YA", 7), ["Passaporto # scaduto.", "Numero di passaporto #"]),
      kind(ID, passport("U1", 8), ["Patente # valida.", "Patente: #"]),
      kind(
        "PHONE",
        phone((d) => `347 ${d.slice(0, 7)}`, 7),
        ["Telefono: #", "Tel. #, ore serali"],
      ),
      kind("BIRTH_DATE", slashes, ["Data di nascita: #", "È nata il # a Bari."]),
    ],
    other: [
      "Ordine # spedito.",
      "Fattura # da pagare.",
      "Pacco # consegnato.",
      "Pratica # chiusa.",
      "Lotto #",
    ],
  },
  NL: {
    kinds: [
      kind(ID, bsn, ["Mijn BSN is #.", "Burgerservicenummer: #"], lastChanged),
      kind(ID, passport("NX", 7), ["Paspoort # verloopt.", "Paspoort nummer #"]),
      kind(ID, (d) => `NL${take(9, d).join("")}B01`, ["BTW #", "Ons btw nummer: #"]),
      kind(
        "PHONE",
        phone((d) => `06-${d.slice(0, 8)}`, 8),
        ["Bel mij: tel #", "Mobiel/telefoon: #"],
      ),
      kind(
        "BIRTH_DATE",
        born((day, month, year) => `${day}-${month}-${year}`),
        ["Geboortedatum: #", "Hij is geboren op 3 mei; geboortedatum #"],
      ),
    ],
    other: [
      "Bestelling # is verzonden.",
      "Factuur # staat open.",
      "Pakket # bezorgd.",
      "Dossier # gesloten.",
      "Partij #",
    ],
  },
  PL: {
    kinds: [
      kind(ID, pesel, ["Mój PESEL to #.", "PESEL: #"], lastChanged),
      kind(ID, passport("EH", 7), ["Paszport # jest ważny.", "Numer: paszport #"]),
      kind(ID, (d) => `PL${take(10, d).join("")}`, ["VAT: #", "Numer VAT #"]),
      kind(
        "PHONE",
        phone((d) => `+48 ${grouped(d, 3, 3, 3).join(" ")}`, 9),
        ["Telefon: #", "Zadzwoń: #"],
      ),
      kind("BIRTH_DATE", dots, ["Data urodzenia: #", "Urodzony #: data urodzenia #"]),
    ],
    other: [
      "Zamówienie # wysłane.",
      "Faktura # do zapłaty.",
      "Paczka # dostarczona.",
      "Sprawa # zamknięta.",
      "Partia #",
    ],
  },
  BR: {
    kinds: [
      kind(ID, cpf, ["Meu CPF é #.", "CPF #"], lastChanged),
      kind(ID, cnpj, ["CNPJ da empresa: #", "O CNPJ # está ativo."], lastChanged),
      kind(ID, passport("FX", 6), ["Passaporte # vencido.", "Número do passaporte #"]),
      kind(
        "PHONE",
        phone((d) => `+55 11 9${d.slice(0, 4)}-${d.slice(4, 8)}`, 8),
        ["Telefone: #", "Meu WhatsApp é #."],
      ),
      kind("BIRTH_DATE", slashes, ["Data de nascimento: #", "Nascido em 3 de maio; data de nascimento #"]),
    ],
    other: [
      "Pedido # enviado.",
      "Fatura # em aberto.",
      "Pacote # entregue.",
      "Processo # encerrado.",
      "Lote #",
    ],
  },
  IN: {
    kinds: [
      kind(ID, aadhaar, ["My Aadhaar number is #.", "Aadhaar: #"], lastChanged),
      kind(ID, pan, ["PAN # is linked.", "Income tax PAN: #"]),
      kind(ID, passport("Z", 7), ["Indian passport number #", "Passport # was issued in Pune."]),
      kind(
        "PHONE",
        phone((d) => `+91 9${d.slice(0, 4)} ${d.slice(4, 9)}`, 9),
        ["Call # for details.", "Mobile: #"],
      ),
      kind("BIRTH_DATE", slashes, ["Date of birth: #", "He was born on #."]),
    ],
    other: [
      "Order number # has shipped.",
      "Invoice # is due.",
      "Ticket # is closed.",
      "Tracking number #",
      "Batch #",
    ],
  },
};
const ROUNDS = 4;

/** At least forty texts of each country, and as many that only look like it; the same each time. */
export function countryCases(): CountryCase[] {
  let state = 20_261_127;
  const digit = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * 10);
  };
  return Object.entries(COUNTRIES).flatMap(([country, { kinds, other }]) =>
    Array.from({ length: ROUNDS }, (_, round) =>
      kinds.flatMap(({ type, make, says, wrong }, at) =>
        says.flatMap((sentence): CountryCase[] => {
          const value = make(digit);
          const alike = make(digit);
          // Half of what only looks like it has the words and a wrong check digit, the rest names a thing.
          const isWrong = wrong !== undefined && round % 2 === 0;
          const text = isWrong ? sentence : (other[(at + round) % other.length] ?? "#");
          return [
            { country, type, text: sentence.replaceAll("#", value), value },
            { country, type, text: text.replaceAll("#", isWrong ? wrong(alike) : plain(alike)) },
          ];
        }),
      ),
    ).flat(),
  );
}

/** As things are numbered: without the separators that only such a value has. */
function plain(value: string): string {
  return value.replace(/[^A-Za-z\d]/g, "");
}
