import { CITIES, NAMES, ORDER_STATUSES, PRODUCTS } from "./seed-data.ts";

/** Stored in the database as its `user_version`. */
export const SEED_VERSION = 1;

const ORDER_COUNT = 72;
const FIRST_DAY = Date.UTC(2024, 0, 8);
const DAY_MS = 86_400_000;

export const SCHEMA = `
CREATE TABLE users (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  age INTEGER NOT NULL,
  city TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'inactive')),
  created_at TEXT NOT NULL
);
CREATE TABLE products (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  category TEXT NOT NULL,
  price REAL NOT NULL,
  stock INTEGER NOT NULL
);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id),
  product_id INTEGER NOT NULL REFERENCES products (id),
  quantity INTEGER NOT NULL,
  total REAL NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'shipped', 'delivered', 'cancelled')),
  created_at TEXT NOT NULL
);`;

interface SeedStatement {
  sql: string;
  rows: (string | number)[][];
}

/** The sample data: the same on every machine. */
export function seedStatements(): SeedStatement[] {
  return [
    { sql: "INSERT INTO users VALUES (?, ?, ?, ?, ?, ?, ?)", rows: users() },
    {
      sql: "INSERT INTO products VALUES (?, ?, ?, ?, ?)",
      rows: PRODUCTS.map((product, index) => [index + 1, ...product]),
    },
    { sql: "INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?)", rows: orders() },
  ];
}

function users(): (string | number)[][] {
  return NAMES.map((name, index) => [
    index + 1,
    name,
    `${name.toLowerCase().replaceAll(/[^a-z]+/g, ".")}@example.com`,
    21 + ((index * 17) % 45),
    CITIES[index % CITIES.length] ?? "",
    index % 3 === 2 ? "inactive" : "active",
    day(index * 9),
  ]);
}

function orders(): (string | number)[][] {
  return Array.from({ length: ORDER_COUNT }, (_, index) => {
    const productIndex = (index * 7) % PRODUCTS.length;
    const quantity = 1 + ((index * 5) % 4);
    const price = PRODUCTS[productIndex]?.[2] ?? 0;
    return [
      index + 1,
      1 + ((index * 11) % NAMES.length),
      productIndex + 1,
      quantity,
      Math.round(price * quantity * 100) / 100,
      ORDER_STATUSES[(index * 3 + Math.floor(index / 4)) % ORDER_STATUSES.length] ?? "",
      day(30 + index * 4),
    ];
  });
}

function day(offset: number): string {
  return new Date(FIRST_DAY + offset * DAY_MS).toISOString().slice(0, 10);
}
