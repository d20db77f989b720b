import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { add, calculate, divide, multiply, subtract } from "../../../servers/calculator/index.ts";
import { describe_table, list_tables, query } from "../../../servers/database/index.ts";
import { list_directory, read_file, write_file } from "../../../servers/filesystem/index.ts";
import { get_forecast, get_weather, list_locations } from "../../../servers/weather/index.ts";
import { double_number } from "../../../skills/double_number/index.ts";
import { createDiscovery } from "./create-discovery.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const home = process.cwd();
let workspace = "";

beforeAll(() => {
  workspace = realpathSync(mkdtempSync(path.join(tmpdir(), "cem-samples-")));
  process.chdir(workspace);
});

afterAll(() => {
  process.chdir(home);
  rmSync(workspace, { recursive: true });
});

describe("the sample servers and skill", () => {
  it("are all discovered, each described, with parameters and results", async () => {
    const { servers, problems } = await createDiscovery({
      serversDir: path.join(root, "servers"),
      skillsDir: path.join(root, "skills"),
    }).list();
    expect(problems).toEqual([]);
    const tools = servers.flatMap((server) => server.tools);
    expect(tools.map(({ server, name }) => `${server}.${name}`)).toEqual([
      "calculator.add",
      "calculator.calculate",
      "calculator.divide",
      "calculator.multiply",
      "calculator.subtract",
      "database.describe_table",
      "database.list_tables",
      "database.query",
      "filesystem.list_directory",
      "filesystem.read_file",
      "filesystem.write_file",
      "weather.get_forecast",
      "weather.get_weather",
      "weather.list_locations",
      "double_number.double_number",
    ]);
    for (const tool of tools) {
      expect(tool.description).not.toBe("");
      expect(tool.outputSchema).toHaveProperty("description");
      for (const property of Object.values(tool.inputSchema.properties ?? {}))
        expect(property).toHaveProperty("description");
    }
  });

  it("carry the libraries that are installed", () => {
    const check = spawnSync(process.execPath, ["scripts/vendor.ts", "--check"], {
      cwd: root,
      encoding: "utf8",
    });
    expect(check.stderr).toBe("");
    expect(check.status).toBe(0);
  });
});

describe("calculator", () => {
  it.each([
    ["5 + 3", 8],
    ["0.1 + 0.2", 0.3],
    ["3 * 41.65", 124.95],
    ["10 / 3", 10 / 3],
    ["(10 / 3) * 3", 10],
    ["(2 + 3) * 4", 20],
    ["2 ^ 3 ^ 2", 512],
    ["2 ** 3", 8],
    ["-2 ^ 2", -4],
    ["(-2) ^ 2", 4],
    ["2 ^ -1", 0.5],
    ["10 % 3", 1],
    ["10 - 4 - 3", 3],
    ["7 / 2", 3.5],
    ["5 × 3 ÷ 2", 7.5],
    ["5 x 3", 15],
    ["1,250 + 1,000,000", 1_001_250],
    ["max(1,200)", 200],
    ["sqrt(16) + abs(-3)", 7],
    ["round(2.345, 2)", 2.35],
    ["log(100, 10)", 2],
    ["cos(pi)", -1],
    ["15% of 200", 30],
    ["200 + 10%", 220],
    ["50%", 0.5],
    ["5 + 3 = ?", 8],
    ["1e3 - .5", 999.5],
  ])("calculates %s", async (expression, value) => {
    expect(await calculate({ expression })).toBe(value);
  });

  it.each([
    ["1 / 0", /divide 1 by zero/],
    ["5 % 0", /remainder of 5 by zero/],
    ["sqrt(-1)", /not a real number/],
    ["9 ^ 999", /too large/],
    ["5 +", /Can't read "5 \+"/],
    ["5 5", /operator is missing/],
    ["2(3)", /operator is missing/],
    ["", /empty/],
    ["constructor", /"constructor" is not a number/],
    ["toString()", /no function "toString"/],
    ["a.b", /arithmetic/],
    ["'5' + 1", /not a number/],
    ["sqrt(1, 2)", /takes 1 numbers, not 2/],
    ["(".repeat(4_000), /nested too deeply|Can't read/],
    ["1".repeat(10_001), /10001 characters/],
  ])("refuses %s", async (expression, message) => {
    await expect(calculate({ expression })).rejects.toThrow(message);
  });

  it("adds, subtracts, multiplies and divides without noise", async () => {
    expect([
      await add({ a: 0.1, b: 0.2 }),
      await subtract({ a: 0.3, b: 0.1 }),
      await multiply({ a: 3, b: 0.1 }),
      await divide({ a: 1, b: 4 }),
      await multiply({ a: await divide({ a: 10, b: 3 }), b: 3 }),
    ]).toEqual([0.3, 0.2, 0.3, 0.25, 10]);
    await expect(divide({ a: 1, b: 0 })).rejects.toThrow("Can't divide 1 by zero.");
    await expect(add({ a: "5", b: 3 } as never)).rejects.toThrow('add needs a finite number as "a", got "5"');
    await expect(add(undefined as never)).rejects.toThrow("got nothing. Call add({ a: 1, b: 2 })");
  });
});

describe("weather", () => {
  it("gives the normal of a month", async () => {
    expect(await get_weather({ location: "san francisco", month: "November" })).toEqual({
      location: "San Francisco",
      country: "United States",
      month: "November",
      temperature: 14,
      unit: "°C",
      condition: "partly cloudy",
      precipitation_mm: 66,
      kind: "climate normal",
      source: expect.stringContaining("1991-2020"),
    });
  });

  it("takes the current month when none is given", async () => {
    const month = new Date().toLocaleString("en", { month: "long", timeZone: "UTC" });
    expect((await get_weather({ location: "Cairo" })).month).toBe(month);
  });

  it.each([
    ["NYC", "New York"],
    ["sao paulo", "São Paulo"],
    ["Paris, France", "Paris"],
    ["San Francisco, CA, USA", "San Francisco"],
    ["San Francisco CA", "San Francisco"],
    ["London, UK", "London"],
    ["Washington, D.C.", "Washington"],
  ])("knows %s as %s", async (location, name) => {
    expect((await get_weather({ location })).location).toBe(name);
  });

  it.each([
    ["San Fransisco", 'Did you mean "San Francisco, United States"?'],
    ["Paris, Texas", 'Did you mean "Paris, France"?'],
    ["Germany", 'Did you mean "Berlin, Germany" or'],
    ["Atlantis", "list_locations names the"],
  ])("does not guess %s", async (location, message) => {
    await expect(get_weather({ location })).rejects.toThrow(message);
  });

  it("forecasts days that lie between the months' normals", async () => {
    const days = await get_forecast({ location: "Berlin", days: 31 });
    expect(days).toHaveLength(31);
    expect(new Set(days.map(({ date }) => date)).size).toBe(31);
    expect(days.every(({ temperature }) => temperature >= 1.2 && temperature <= 19.9)).toBe(true);
    expect(await get_forecast({ location: "Berlin" })).toHaveLength(5);
    await expect(get_forecast({ location: "Berlin", days: 0 })).rejects.toThrow("1 to 31 days, not 0");
  });

  it("lists more than sixty places, all of which have weather in all months", async () => {
    const places = await list_locations({});
    expect(places.length).toBeGreaterThan(60);
    expect(places[0]).toEqual({ name: "San Francisco", country: "United States" });
    for (const month of ["January", "July"] as const) {
      const all = await Promise.all(places.map(({ name }) => get_weather({ location: name, month })));
      expect(
        all.every(
          ({ temperature, precipitation_mm: rain }) => temperature > -30 && temperature < 45 && rain >= 0,
        ),
      ).toBe(true);
      expect(all.map(({ location }) => location)).toEqual(places.map(({ name }) => name));
    }
  });
});

describe("filesystem", () => {
  it("writes, reads and lists", async () => {
    expect(await write_file({ path: "/workspace/notes/a.txt", content: "Hällo" })).toEqual({
      path: "notes/a.txt",
      bytes: 6,
    });
    expect(await read_file({ path: "./notes/a.txt" })).toBe("Hällo");
    expect(await read_file({ path: path.join(workspace, "notes/a.txt") })).toBe("Hällo");
    expect(await list_directory({ path: "notes" })).toEqual([
      { name: "a.txt", path: "notes/a.txt", type: "file", bytes: 6 },
    ]);
    expect(await list_directory()).toContainEqual({
      name: "notes",
      path: "notes",
      type: "directory",
      bytes: 0,
    });
  });

  it.each([
    "../x",
    "/etc/passwd",
    "a/../../x",
    "/workspace/../etc/passwd",
    "..",
    "a\0b",
    "",
    "leads-out/x",
    "broken",
  ])("refuses %j to be read or written", async (given) => {
    rmSync("leads-out", { force: true });
    rmSync("broken", { force: true });
    symlinkSync(tmpdir(), "leads-out");
    symlinkSync(path.join(tmpdir(), "cem-not-there"), "broken");
    await expect(read_file({ path: given })).rejects.toThrow(/refused|NUL|needs a file's path/);
    await expect(write_file({ path: given, content: "x" })).rejects.toThrow(
      /refused|NUL|needs a file's path/,
    );
  });

  it("says what is wrong in plain words", async () => {
    writeFileSync("binary", Uint8Array.from([0xff, 0xfe]));
    await write_file({ path: "file.txt", content: "" });
    await expect(read_file({ path: "none.txt" })).rejects.toThrow(
      'Can\'t read "none.txt": there is no such file',
    );
    await expect(read_file({ path: "." })).rejects.toThrow("it is a folder");
    await expect(read_file({ path: "binary" })).rejects.toThrow("not UTF-8 text (2 bytes)");
    await expect(write_file({ path: "file.txt/x", content: "" })).rejects.toThrow(
      "a part of the path is a file",
    );
    await expect(write_file({ path: "x.json", content: { a: 1 } as never })).rejects.toThrow(
      "JSON.stringify",
    );
  });
});

describe("database", () => {
  it("seeds itself once, also when many begin at the same time", async () => {
    const script = `import { list_tables } from ${JSON.stringify(path.join(root, "servers/database/index.ts"))}; console.log(JSON.stringify(await list_tables()));`;
    const seed = path.join(workspace, "seed.mjs");
    writeFileSync(seed, script);
    const shell = Array.from({ length: 4 }, () => `"${process.execPath}" --no-warnings seed.mjs &`).join(" ");
    const { stdout } = spawnSync("sh", ["-c", `${shell} wait`], { cwd: workspace, encoding: "utf8" });
    const tables = [
      { name: "orders", rows: 72 },
      { name: "products", rows: 26 },
      { name: "users", rows: 24 },
    ];
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([tables, tables, tables, tables]);
  });

  it("answers with the rows", async () => {
    expect(await query({ sql: "SELECT id, name, status FROM users ORDER BY id LIMIT 3" })).toEqual([
      { id: 1, name: "Alice Johnson", status: "active" },
      { id: 2, name: "Bob Smith", status: "active" },
      { id: 3, name: "Carla Gomez", status: "inactive" },
    ]);
    const users = await query({ sql: "SELECT * FROM users" });
    expect(users.filter((user) => user["status"] === "active")).toHaveLength(16);
    expect(
      await query({
        sql: "SELECT count(*) AS n FROM orders WHERE total > ? AND status = ?",
        params: [500, "delivered"],
      }),
    ).toEqual([{ n: 4 }]);
    expect(await query({ sql: "SELECT 9007199254740993 AS big, x'0102' AS bytes, ';' AS text;" })).toEqual([
      { big: "9007199254740993", bytes: "AQI=", text: ";" },
    ]);
    expect(
      Object.keys(
        (await query({ sql: "SELECT o.id, u.id FROM orders o JOIN users u ON u.id = o.user_id" }))[0] ?? {},
      ),
    ).toEqual(["id", "users_id"]);
  });

  it("describes tables", async () => {
    const { columns, rows } = await describe_table({ table: "Users" });
    expect(rows).toBe(24);
    expect(columns.map(({ name }) => name)).toEqual([
      "id",
      "name",
      "email",
      "age",
      "city",
      "status",
      "created_at",
    ]);
    await expect(describe_table({ table: "user" })).rejects.toThrow('Did you mean "users"?');
    expect((await list_tables()).map(({ name }) => name)).toEqual(["orders", "products", "users"]);
  });

  it.each([
    ["DELETE FROM users", "allow_writes: true"],
    ["WITH x AS (SELECT 1) DELETE FROM users", "allow_writes: true"],
    ["SELECT 1; DROP TABLE users", "one SQL statement at a time"],
    ["ATTACH 'x' AS y", "not a statement that query runs"],
    ["VACUUM INTO 'copy.sqlite'", "not a statement that query runs"],
    ["PRAGMA user_version = 3", "PRAGMA user_version is refused"],
    ["PRAGMA journal_mode(wal)", "PRAGMA journal_mode is refused"],
    ["-- nothing", "empty"],
    ["SELECT * FROM usres", 'Did you mean "users"?'],
    ["SELECT agee FROM users", 'Did you mean "age"?'],
    ["SELECT ? + 1", "1 ? placeholders, and params holds 0"],
  ])("refuses %s", async (sql, message) => {
    await expect(query({ sql })).rejects.toThrow(message);
  });

  it("writes when it is allowed to", async () => {
    const sql = "INSERT INTO products (name, category, price, stock) VALUES (?, 'test', 1, 2)";
    expect(await query({ sql, params: ["A"], allow_writes: true })).toEqual([
      { changes: 1, last_insert_rowid: 27 },
    ]);
    expect(
      await query({ sql: "DELETE FROM products WHERE category = 'test' RETURNING name", allow_writes: true }),
    ).toEqual([{ name: "A" }]);
    await expect(query({ sql: "ATTACH 'x' AS y", allow_writes: true })).rejects.toThrow("not a statement");
  });
});

describe("double_number", () => {
  it("doubles", () => {
    expect(double_number(15)).toBe(30);
    expect(() => double_number("15" as never)).toThrow("needs a finite number");
  });
});
