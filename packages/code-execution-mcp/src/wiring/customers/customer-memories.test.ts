import { createRedactor } from "@cem/pii";
import { expect, it, onTestFinished } from "vitest";
import { createCustomerMemories } from "./customer-memories.ts";
import type { CustomerMemory } from "./customer-memories.ts";

const ADDRESS = "ada@customer-secret.example";
const session = "talk";

async function setUp() {
  const everybodys = createRedactor();
  onTestFinished(() => everybodys.dispose());
  const gone: string[] = [];
  let isThere = true;
  const memories = createCustomerMemories(everybodys, (id) => gone.push(id));
  const open = () => memories.open("ada", async () => isThere);
  const remove = () => (isThere = false);
  const comeBack = () => (isThere = true);
  return { memories, gone, open, remove, comeBack };
}

function tokenOf({ redactor }: CustomerMemory): string {
  return String(redactor?.tokenize(ADDRESS, { session }));
}

async function known({ redactor }: CustomerMemory, token: string): Promise<string> {
  try {
    const target = { server: "s", tool: "t", session };
    return JSON.stringify(await redactor?.detokenize({ to: token }, target));
  } catch (error) {
    return String(error);
  }
}

it("keeps what an owner's tokens stand for while their agent is away", async () => {
  const { open, gone } = await setUp();
  const token = tokenOf(await open());
  expect(token).not.toContain(ADDRESS);
  expect(await known(await open(), token)).toContain(ADDRESS);
  expect(gone).toEqual([]);
});

it("forgets it with the owner, though nobody was at work then, and nothing of the next", async () => {
  const { open, memories, gone, remove, comeBack } = await setUp();
  const first = await open();
  const token = tokenOf(first);
  remove();
  const next = await open();
  comeBack();
  expect(next).not.toBe(first);
  expect(gone).toEqual(["ada"]);
  expect(await known(next, token)).not.toContain(ADDRESS);
  // The last run of the first one ends.
  await memories.forget(first);
  expect(await open()).toBe(next);
  expect(gone).toEqual(["ada"]);
});
