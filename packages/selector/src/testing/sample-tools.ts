import type { JsonSchema, ToolDefinition } from "@cem/core";

const number = (description: string): JsonSchema => ({ type: "number", description });
const text = (description: string): JsonSchema => ({ type: "string", description });

/** Creates a definition as discovery returns it. */
export function tool(
  server: string,
  name: string,
  description: string,
  properties: Record<string, JsonSchema> = {},
  more: Partial<ToolDefinition> = {},
): ToolDefinition {
  return {
    server,
    name,
    kind: "local",
    description,
    inputSchema: { type: "object", properties, required: Object.keys(properties) },
    callStyle: "object",
    signature: `${name}(input: object): Promise<unknown>`,
    module: `./servers/${server}/index.ts`,
    ...more,
  };
}

const weather: JsonSchema = {
  type: "object",
  properties: {
    location: text("Name of the city."),
    temperature: number("Mean temperature, in degrees Celsius."),
    condition: text("Typical condition, derived from temperature and precipitation."),
  },
};

/** The tools of four small servers, and a skill. */
export const sampleTools: ToolDefinition[] = [
  tool("calculator", "add", "Add two numbers.", {
    a: number("The first number."),
    b: number("The number to add to it."),
  }),
  tool("calculator", "subtract", "Subtract one number from another.", {
    a: number("The number to subtract from."),
    b: number("The number to subtract."),
  }),
  tool("calculator", "multiply", "Multiply two numbers.", {
    a: number("The first factor."),
    b: number("The second factor."),
  }),
  tool("calculator", "divide", "Divide one number by another.", {
    a: number("The dividend: the number to divide."),
    b: number("The divisor: the number to divide by. Not 0."),
  }),
  tool("calculator", "calculate", "Calculate an arithmetic expression and return its value.", {
    expression: text(
      "An arithmetic expression: `5 + 3`, `(2 + 3) * 4 ^ 2`, `sqrt(16) + pi`, `15% of 200`. Functions sqrt, abs, round, min, max, log; constants pi, e.",
    ),
  }),
  tool(
    "weather",
    "get_weather",
    "Get the weather for a city: temperature and condition as they are normal for the current or a given month.",
    { location: text("Name of a city: `San Francisco`, `Paris, France`, `NYC`.") },
    { outputSchema: weather },
  ),
  tool(
    "weather",
    "get_forecast",
    "Get a forecast of the weather in a city for the coming days, interpolated from climate normals.",
    {
      location: text("Name of a city: `San Francisco`, `Paris, France`, `NYC`."),
      days: number("How many days, beginning tomorrow: 1 to 31. Default 5."),
    },
    { outputSchema: { type: "array", items: weather } },
  ),
  tool(
    "weather",
    "list_locations",
    "List the cities whose weather is known.",
    { region: text("Only cities of this region.") },
    { inputSchema: { type: "object", properties: { region: text("Only cities of this region.") } } },
  ),
  tool("filesystem", "read_file", "Read a text file from the workspace and return its content.", {
    path: text("Path of the file in the workspace: `notes/today.txt` or `/workspace/notes/today.txt`."),
  }),
  tool(
    "filesystem",
    "write_file",
    "Write a text file in the workspace. Creates the folders it needs and replaces a file that is there already.",
    {
      path: text("Path of the file in the workspace: `notes/today.txt` or `/workspace/notes/today.txt`."),
      content: text("The whole new content of the file, as text."),
    },
  ),
  tool("filesystem", "list_directory", "List the files and folders in a folder of the workspace.", {
    path: text("Path of the folder in the workspace; the workspace itself when left out."),
  }),
  tool(
    "database",
    "query",
    "Query the database with SQL, read-only unless writes are allowed, and return the rows. Use it to get users, orders or products.",
    {
      sql: text(
        "One SQL statement (SQLite): `SELECT * FROM users WHERE status = 'active'`. There are the tables users (id, name, email, age, city, status, created_at), orders (id, user_id, product_id, quantity, total, status, created_at) and products (id, name, category, price, stock).",
      ),
      params: { type: "array", description: "Values for the `?` placeholders, in order." },
      allow_writes: { type: "boolean", description: "Allow statements that change data or tables." },
    },
  ),
  tool("database", "list_tables", "List the tables of the database."),
  tool(
    "database",
    "describe_table",
    "Describe a table of the database: its columns with their types, and how many rows it has.",
    { table: text("Name of the table: `users`, `orders` or `products`.") },
  ),
  tool(
    "double_number",
    "double_number",
    "Double a number.",
    { value: number("The number to double.") },
    { kind: "skill", callStyle: "positional", module: "./skills/double_number/index.ts" },
  ),
];
