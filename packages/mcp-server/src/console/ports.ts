import type { RunRecords, SessionRecord } from "@cem/core";
import type {
  CustomerList,
  QueueFigures,
  SessionList,
  WorkflowGraph,
  WorkflowList,
  WorkflowRun,
  WorkflowRunList,
} from "./history-schemas.ts";

/** Data that whoever gets it does not change. */
export type Frozen<Data> = Data extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Data extends object
    ? { readonly [Key in keyof Data]: Frozen<Data[Key]> }
    : Data;

/** Workflows and their runs. */
interface ConsoleWorkflows {
  list(): Promise<Frozen<WorkflowList["workflows"]>>;
  /** @throws CemError `WORKFLOW_NOT_FOUND` or `WORKFLOW_INVALID` */
  draw(name: string): Promise<Frozen<WorkflowGraph["steps"]>>;
  runs(): Promise<Frozen<WorkflowRunList["runs"]>>;
  /** @throws CemError `WORKFLOW_RUN_NOT_FOUND` or `WORKFLOW_RUN_UNREADABLE` */
  run(id: string): Promise<Frozen<Omit<WorkflowRun, "canResume">>>;
}

/** The logs of sessions. */
interface ConsoleSessions {
  list(): Promise<Frozen<SessionList["sessions"]>>;
  /** @throws CemError `SESSION_NOT_FOUND` */
  read(id: string): Promise<{ session: SessionRecord; recap: string }>;
}

/** The customers that a client may see: itself where there are customers, all where one client has the server. */
interface ConsoleCustomers {
  /** Whether the client is the customer, the only one that it sees. */
  isOwn: boolean;
  list(): Promise<Frozen<CustomerList["customers"]>>;
  /** Removes everything of a customer. @throws CemError `CUSTOMER_NOT_FOUND` */
  remove(id: string): Promise<void>;
}

/** The stored records that a client may see. Absent ones are not shown to it. */
export interface ConsoleParts {
  records?: Pick<RunRecords, "list" | "read"> | undefined;
  /** The owner of the records to show, where there are records of several clients. */
  owner?: string | undefined;
  sessions?: ConsoleSessions | undefined;
  workflows?: ConsoleWorkflows | undefined;
  customers?: ConsoleCustomers | undefined;
  /** The queue that runs of all customers wait in. */
  queue?: { read(): Promise<Frozen<QueueFigures>> } | undefined;
  /** Memory that a guest may take, in MiB. */
  guestMemoryMb?: number | undefined;
}
