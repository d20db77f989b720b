import { library } from "../../tsup.base.ts";

export default library({
  entry: {
    index: "src/index.ts",
    redis: "src/redis/redis-store.ts",
    postgres: "src/postgres/postgres-store.ts",
    contract: "src/testing/contract.ts",
  },
});
