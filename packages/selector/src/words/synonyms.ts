import { stem } from "@cem/core/text";

/** Related words by subject, one line each. */
const SUBJECTS = `
  calculate compute evaluate solve
  add plus sum addition
  subtract minus subtraction deduct
  multiply multiplication
  divide ratio quotient division
  double twice
  arithmetic math maths mathematics mathematical
  get fetch retrieve obtain read load
  write save store create put overwrite
  list enumerate browse
  weather temperature climate rain rainy snow sunny cloudy humidity hot cold warm windy
  forecast predict prediction outlook
  location city place town
  folder directory dir mkdir
  schema structure column
  database db sql sqlite
  email mail gmail inbox
  issue ticket bug
  remember recall memory memorize
  cook cooking recipe dish meal ingredient cuisine food
  diet nutrition nutritional calorie meal food healthy
  eat food restaurant dining lunch dinner breakfast
  house home property apartment realestate estate rent mortgage housing
  photo picture image photograph selfie visual
  shirt tshirt hoodie clothing clothes apparel fashion outfit wear dress
  shop shopping store product buy purchase item sale
  discount coupon deal promo sale offer voucher cheap
  gift present
  stock share invest investment finance financial market portfolio ticker equity
  crypto cryptocurrency bitcoin ethereum coin token blockchain
  company corporate business firm corporation enterprise
  law legal court case attorney lawyer lawsuit statute regulation
  travel trip vacation itinerary tour tourist destination journey holiday
  hotel accommodation homestay lodging hostel stay airbnb room
  flight airline plane airport fly
  train rail railway station
  job career resume cv salary hire hiring employment employer recruit
  course learn study tutor lesson education class university student teach tutorial
  movie film tv show series watch stream actor cinema television
  music song album artist playlist lyric band track singer concert
  game gaming player play gamer
  news headline article journalism
  weather forecast temperature climate
  website site webpage url link domain web page
  navigate visit browse open go url page browser
  internet web online
  seo keyword backlink
  pdf document doc file
  code programming developer software script snippet
  repository repo github git
  health medical doctor disease symptom clinical patient medicine drug
  fitness exercise workout gym
  astrology horoscope zodiac tarot astrological
  currency exchange dollar euro rate forex usd eur pound yen
  convert conversion converter
  database sql query table
  server cpu memory infrastructure uptime
  chart graph plot diagram visualize visualization
  presentation ppt powerpoint slide pptx deck
  word docx document
  excel xlsx spreadsheet sheet csv workbook
  map location geocode route direction place nearby address
  charity donate donation nonprofit
  car vehicle auto automobile dealer
  parking carpark park
  book novel author reading
  paper research academic scholar study publication scientific arxiv
  language translate translation translator
  calendar meeting schedule appointment event
  task todo note reminder
  video youtube clip
  audio sound voice speech podcast
  summarize summary summarization
  tax income
  calculate calculator math compute arithmetic equation formula
  date time today now current
  logo brand branding
  social facebook twitter instagram post
  marketing advertising ad advertisement campaign
  customer lead sales client
  sport football soccer basketball team match league score
  art artwork painting museum gallery
  quiz question answer trivia
  joke fun humor
  security vulnerability scan phishing ssl
  earthquake disaster
  review rating
  compare comparison versus
  price cost pricing fee
  vm virtual machine
  search find lookup
  delete remove erase drop forget
  create add new make generate
  update change modify edit set
  undo revert reset rollback discard
  history log
  append write edit
  list show enumerate view display get
  secret credential password
  permission role access
  message chat sms send
  phone number call
  track tracking package shipment delivery parcel courier
  ip address
  country nation
  anime manga
  quote quotes inspirational
  fact observation knowledge remember memory
  person people entity
`;

const NONE: ReadonlySet<string> = new Set();
const RELATED = new Map<string, Set<string>>();
for (const line of SUBJECTS.trim().split("\n")) {
  const stems = line.trim().split(/\s+/).map(stem);
  for (const word of stems) {
    RELATED.set(word, new Set([...(RELATED.get(word) ?? []), ...stems].filter((other) => other !== word)));
  }
}

/** The stems of words on the same subject: `recipe` is related to `cook`. */
export function relatedTo(wordStem: string): ReadonlySet<string> {
  return RELATED.get(wordStem) ?? NONE;
}
