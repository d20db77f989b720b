import { describe, expect, it } from "vitest";
import { createDetector, createRedactor } from "./index.ts";

const detector = createDetector();
const found = (text: string): string[] =>
  detector.find(text).map(({ start, end, type }) => `${type} ${text.slice(start, end)}`);

describe("a table", () => {
  it.each([
    ["id,pin\n17,4821", ["SECRET 4821"]],
    ["id;mdp;status\n17;azerty12;open\n", ["SECRET azerty12"]],
    ["Rows:\nuser,password\nada,hund12x\nbob,katze9y", ["SECRET hund12x", "SECRET katze9y"]],
    ["name,dob\nAda,1986-03-14", ["BIRTH_DATE 1986-03-14"]],
    [",name,password\n0,ada,Lumi2019!", ["SECRET Lumi2019!"]],
    ["N°;Mot de passe;Âge?\n1;Lumi2019!;7", ["SECRET Lumi2019!"]],
    ["Nome\tParola d'ordine\nAda\tLumi2019!", ["SECRET Lumi2019!"]],
    ["Name,**Passwort**/PIN (initial)\nAda,Lumi2019!", ["SECRET Lumi2019!"]],
    ["id\tpesel\n17\t44051401359", ["NATIONAL_ID 44051401359"]],
    ["id,phone,note\n17,4156823371,x", ["PHONE 4156823371"]],
    ["id;phone no;city\n17;40610025;Oslo", ["PHONE 40610025"]],
    [`id,ssn,note\n17,403228469,${"x".repeat(60)}\n18,403228460,x`, ["SSN 403228469", "SSN 403228460"]],
    [
      `| Employee | Social Security Number | Pay |\n|---|---|---|\n| ${"A".repeat(40)} | 169842490 | 1 |`,
      ["SSN 169842490"],
    ],
    [
      `<tr><th>${"A".repeat(40)}</th><th>SSN</th></tr><tr><td>Ada</td><td>403228469</td></tr>`,
      ["SSN 403228469"],
    ],
    ["| user | password |\n|---|---|\n| ada | hund12x |", ["SECRET hund12x"]],
    ["| a | b |\n|---|---|\n| user | ada |\n| password | hund12x |\n| timeout | 3000 |", ["SECRET hund12x"]],
    ["key,value\npassword,hund12x\ntimeout,3000", ["SECRET hund12x"]],
    [
      "+----+----------+\n| id | password |\n+----+----------+\n|  1 | hund12x  |\n+----+----------+",
      ["SECRET hund12x"],
    ],
    [
      '<table><tr><th>user</th><th class="x">password</th></tr><tr><td>ada</td><td>hund12x</td></tr></table>',
      ["SECRET hund12x"],
    ],
    ["<tr><th>Passwort</th><td>hund12x</td></tr><tr><th>Ort</th><td>Bonn12x</td></tr>", ["SECRET hund12x"]],
    ["<dl><dt>dob</dt><dd>1986-03-14</dd><dt>at</dt><dd>noon</dd></dl>", ["BIRTH_DATE 1986-03-14"]],
  ])("tells by its headings what is in %j", (text, values) => {
    expect(found(text)).toEqual(values);
  });

  it.each([
    '"password": "x",\n"city": "Berlin",\n"country": "Germany",',
    "function f(\n  password,\n  userName,\n  callback,\n) {}",
    "enum Kind {\n  Secret,\n  Public,\n  Private,\n}",
    "Password, please\nThanks, bye",
    "type User = {\n  password: string;\n  pin: number;\n  other: number;\n};",
    "| name | type |\n|---|---|\n| password | string |\n| token | string |",
    "cookie,price\nOatmeal,3.50",
    "id,text\nlogin.password,Password\nlogin.other,Other password",
    "key;text\npassword;Passwort\npassword_wrong;Falsches Passwort",
    "const {\n  password, userName,\n  email, phone,\n} = user;",
    "Clave;Producto\nA-120;Mesa",
    "secret,namespace\ndb-credentials,default",
    "device,sessions\nmobile,12345678",
    "day,mobile sessions\nMonday,12345678",
    "metric,value\npasswords_reset,1204",
    "user,has_password,password_age\nalice,yes,120",
    "| Method | Password | PIN |\n|---|---|---|\n| Max length | 128 | 6 |",
    "<dl><dt>Passwort</dt><dd>Mindestens 8 Zeichen</dd></dl>",
  ])("is none in %j", (text) => {
    expect(found(text)).toEqual([]);
  });

  it.each([
    ["order_id,card,amount\n18209508,4111111111111111,983919", "CREDIT_CARD 4111111111111111"],
    ["number;exp;total\n4111111111111111;09/27;3", "CREDIT_CARD 4111111111111111"],
    ["nr,karte,id\n1,4111111111111111,20", "CREDIT_CARD 4111111111111111"],
    ["ip,firmware\n52.44.55.66,1", "IP 52.44.55.66"],
    ["ip\tversion\n12.44.55.66\t1", "IP 12.44.55.66"],
    ["phone,amount\n415-682-3371,7", "PHONE 415-682-3371"],
  ])("does not tell by the name of its last column what is in the first ones of %j", (text, value) => {
    expect(found(text)).toEqual([value]);
    expect(found(text.replace(/[^\n]*\n/, "As you see, the order:\n"))).toEqual(
      value.startsWith("IP") ? [value] : [],
    );
  });

  it("is read in rows, in pieces and in members, too", async () => {
    const redactor = createRedactor();
    const shown = redactor.tokenize(
      {
        rows: [
          ["user", "password", "pin"],
          ["ada", "hund12x", "4821"],
        ],
        pairs: [{ name: "dob", value: "1986-03-14" }],
      },
      { session: "s" },
    );
    expect(JSON.stringify(shown)).toMatch(
      /^\{"rows":\[\["user","password","pin"\],\["ada","\[\[SECRET:\w+\]\]","\[\[SECRET:\w+\]\]"\]\],"pairs":\[\{"name":"dob","value":"\[\[BIRTH_DATE:\w+\]\]"\}\]\}$/,
    );
    const stream = redactor.openStream({ session: "s" });
    const pieces = ["id,password\n1,", "katze9y\n2,hund", "33x\n"].map((piece) => stream.push(piece));
    expect([...pieces, stream.end()].join("")).toMatch(
      /^id,password\n1,\[\[SECRET:\w+\]\]\n2,\[\[SECRET:\w+\]\]\n$/,
    );
  });

  it("has numbers under the name of a code", () => {
    const redactor = createRedactor();
    const shown = redactor.tokenize({ pin: 4821, port: 4821 }, { session: "s" });
    expect(shown.port).toBe(4821);
    expect(shown.pin).toBeGreaterThan(8_900_000_000_000_000);
  });
});
