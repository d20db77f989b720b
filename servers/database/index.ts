/** A SQLite database in the workspace with users, orders and products: list its tables, describe one, query with SQL. */
export { describe_table } from "./describe_table.ts";
export { list_tables } from "./list_tables.ts";
export { query } from "./query.ts";
