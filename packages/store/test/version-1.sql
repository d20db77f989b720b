-- The tables of version 1 as they were made, with something in each. Never changed.
create table cem_migrations (version integer primary key);
create table cem_values (
   key bytea primary key,
   value bytea not null,
   version uuid not null,
   expires_at timestamptz
);
create index cem_values_expiry on cem_values (expires_at) where expires_at is not null;
create table cem_log_lengths (key bytea primary key, length bigint not null);
create table cem_logs (key bytea, number bigint, entry bytea not null, primary key (key, number));
create table cem_counters (key bytea primary key, amount bigint not null, expires_at timestamptz);
insert into cem_migrations values (1);
insert into cem_values (key, value, version, expires_at) values
  ('\x6f6c64', '\x31', '6a8b7f7f-b1a5-45f8-898f-1b4ccf4327fc', null),
  ('\x676f6e65', '\x32', '7a8b7f7f-b1a5-45f8-898f-1b4ccf4327fc', now() - interval '1 day');
insert into cem_logs (key, number, entry) values ('\x6c6f67', 0, '\x61'), ('\x6c6f67', 1, '\x62');
insert into cem_log_lengths (key, length) values ('\x6c6f67', 2);
insert into cem_counters (key, amount, expires_at) values ('\x72756e73', 41, null);
