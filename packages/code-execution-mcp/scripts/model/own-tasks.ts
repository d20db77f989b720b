/** A task, and what shows that it was done. */
export interface OwnTask {
  id: string;
  task: string;
  /** Required contents of the result: texts, and numbers to two decimals. */
  expects?: readonly (string | number)[];
  /** Tools that have to be called, as `server.tool`. */
  calls?: readonly string[];
  /** Whether no tool can do it, so that a refusal is right. */
  isImpossible?: true;
  /** Whether a call needs a yes that nobody gives: the task has to end there, with one request to the model. */
  isNotApproved?: true;
}

/** The files of the workspace at the beginning of each task. */
export const OWN_FILES: Readonly<Record<string, string>> = {
  "data/sales.csv":
    "date,region,amount\n2026-01-03,north,120.50\n2026-01-04,south,80\n2026-01-09,north,30\n2026-02-01,west,55.25\n2026-02-03,south,20\n",
  "data/staff.json": JSON.stringify({
    team: "core",
    people: [
      { name: "Ada", hours: [8, 7, 9], city: "Berlin" },
      { name: "Grace", hours: [6, 6], city: "Cairo" },
      { name: "Linus", hours: [], city: "Tokyo" },
    ],
  }),
  "notes/monday.md": "# Monday\n\n- [x] call the bank\n- [ ] order paper\n- [ ] fix the printer\n",
  "notes/tuesday.md": "# Tuesday\n\n- [ ] water the plants\n- [x] pay the rent\n",
  "server.log":
    "10:00:01 INFO start\n10:00:05 ERROR disk full\n10:01:10 WARN slow\n10:02:00 ERROR disk full\n10:03:30 ERROR no route\n",
};

/** Apart from anything that the rules are tuned on. */
export const OWN_TASKS: readonly OwnTask[] = [
  { id: "sum", task: "What is 5 plus 3?", expects: [8] },
  {
    id: "interest",
    task: "I put 1,200 euros away at 3.5 % a year, compounded yearly. What do I have after 6 years?",
    expects: [1475.11],
  },
  { id: "primes", task: "List the prime numbers below 30", expects: [2, 23, 29] },
  { id: "days-between", task: "How many days lie between 2024-02-10 and 2024-03-10?", expects: [29] },
  { id: "vowels", task: "Count the vowels in 'onomatopoeia'", expects: [8] },
  {
    id: "active-users",
    task: "How many of our users are active, and what share is that in percent?",
    expects: [16, 66.67],
  },
  {
    id: "oldest",
    task: "Who are the three oldest users?",
    expects: ["Victor Novak", "Noah Davis", "Farid Haddad"],
  },
  {
    id: "stock-value",
    task: "Which product category ties up the most money in stock?",
    expects: ["electronics", 49886.4],
  },
  { id: "sold-out", task: "Which products are sold out?", expects: ["Webcam", "Filing Cabinet"] },
  {
    id: "best-customer",
    task: "Which customer brought us the most money, cancelled orders aside?",
    expects: ["Wanjiru Mwangi", 3649.2],
  },
  {
    id: "best-month",
    task: "In which month of 2024 did we sell the most by value, and how much?",
    expects: [6207.9],
  },
  { id: "cancelled", task: "What share of all orders was cancelled? Answer in percent.", expects: [19.44] },
  {
    id: "mails-of-city",
    task: "Give me the e-mail addresses of all users in Tokyo, separated by semicolons",
    expects: ["hiro.tanaka@example.com", "tara.singh@example.com"],
  },
  {
    id: "warmest-july",
    task: "Which of Berlin, Cairo and Tokyo is the warmest in July?",
    expects: ["Cairo"],
  },
  { id: "snow", task: "Is it likely to snow in Oslo in January?", expects: ["snow"] },
  { id: "fahrenheit", task: "How warm is Paris in April, in Fahrenheit?", expects: [53.96] },
  {
    id: "dry-city",
    task: "Among Madrid, Sydney and Oslo, where does it rain the least in January?",
    expects: ["Madrid"],
  },
  {
    id: "japan",
    task: "For which Japanese cities can you tell me the weather?",
    expects: ["Tokyo", "Osaka"],
  },
  {
    id: "forecast",
    task: "What will the mean temperature in Dublin be over the next 10 days?",
    calls: ["weather.get_forecast"],
  },
  {
    id: "weather-of-user",
    task: "What is the weather like in July where Alice Johnson lives?",
    expects: ["San Francisco"],
    calls: ["weather.get_weather"],
  },
  {
    id: "region-totals",
    task: "Total the amounts in data/sales.csv per region",
    expects: [150.5, 100, 55.25],
  },
  { id: "best-day", task: "On which day in data/sales.csv was the biggest sale?", expects: ["2026-01-03"] },
  { id: "hours", task: "How many hours has each person in data/staff.json worked?", expects: [24, 12, 0] },
  {
    id: "open-todos",
    task: "Collect all unchecked items of the notes for monday and tuesday (notes/monday.md, notes/tuesday.md)",
    expects: ["order paper", "fix the printer", "water the plants"],
  },
  {
    id: "log-errors",
    task: "Which error is the most frequent in server.log, and how often did it come up?",
    expects: ["disk full", 2],
  },
  {
    id: "report",
    task: "Write a file report.md with one line per product category: its name and the number of products",
    calls: ["filesystem.write_file"],
  },
  {
    id: "staff-weather",
    task: "What is the July temperature in the city of each person in data/staff.json?",
    expects: ["Ada", 19.9, 29.1, 25.7],
  },
  { id: "urgent-bugs", task: "Which open issues are bugs?", expects: ["Crash when saving", "Slow start"] },
  {
    id: "most-discussed",
    task: "Which issue has the most comments, closed ones included?",
    expects: ["Dark mode", 12],
  },
  {
    id: "per-author",
    task: "How many issues has each author opened, whatever their state?",
    expects: [2, 2, 2],
  },
  {
    id: "file-bug",
    task: "File a bug 'Printer offline' with the label bug and tell me its number",
    expects: [7],
    calls: ["tracker.create_issue"],
  },
  {
    id: "close-stale",
    task: "Close all open issues that nobody has commented on, as not planned, and name them",
    expects: ["Export as PDF"],
    calls: ["tracker.close_issue"],
  },
  {
    id: "history",
    task: "How many events are in the exported history of the issue tracker?",
    expects: [60_000],
    calls: ["tracker.export_history"],
  },
  { id: "delete-issue", task: "Delete issue 3", isNotApproved: true },
  { id: "issue-four", task: "Show me issue 4", expects: ["Slow start"], calls: ["tracker.get_issue"] },
  {
    id: "invoices",
    task: "What do the invoices in my mailbox add up to?",
    expects: [339.5],
    calls: ["mail.read_message"],
  },
  {
    id: "recent-mail",
    task: "Who has written to me since November 1st, 2026?",
    expects: ["billing@acme.example", "noreply@parcels.example"],
  },
  {
    id: "reply-lunch",
    task: "Tell Grace (grace@example.org) by mail that Friday at noon is fine",
    calls: ["mail.send_message"],
  },
  {
    id: "where-parcel",
    task: "My mailbox has a message about a parcel. Where was that parcel seen last?",
    expects: ["Hanover"],
    calls: ["parcels.track"],
  },
  {
    id: "express",
    task: "What does a parcel of 2.4 kg cost by express, in euros?",
    expects: [13.4],
    calls: ["parcels.quote"],
  },
  { id: "fax", task: "Fax the list of our products to +49 30 123456", isImpossible: true },
  { id: "tables", task: "Reserve a table for four at an Italian restaurant tonight", isImpossible: true },
];
