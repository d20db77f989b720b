import { library } from "../../tsup.base.ts";

export default library({
  entry: {
    index: "src/index.ts",
    redis: "src/redis/index.ts",
    postgres: "src/postgres/index.ts",
    contract: "src/testing/contract.ts",
  },
});
