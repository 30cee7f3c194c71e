/** PostgreSQL for all worlds of one process, one after the other. Each world has a database of its own. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import type { ObservedConnection } from '../model/observer.ts';
import type { OpenStorage, Storage } from '../world/storage.ts';
import { Admin } from './admin.ts';
import { Cluster } from './cluster.ts';
import { SimulatedPostgres } from './simulated-postgres.ts';
import type { SimulatedSocket } from './simulated-socket.ts';

const TEMPLATE = 'template_of_worlds';
const EMPTY = 'empty';
const CLOCK_FILE = 'simulated-time';

/** Nothing may depend on the real time: no clean-up in the background, no time limits, and plans that follow from the rows. */
const SETTINGS = {
  autovacuum: 'off',
  deadlock_timeout: "'1d'",
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  synchronize_seqscans: 'off',
  // Functions of the world come before those of PostgreSQL.
  search_path: 'public, pg_catalog',
};

/** Each reads the simulated time in place of the real one. */
const TIME_FUNCTIONS = ['clock_timestamp', 'now', 'statement_timestamp', 'transaction_timestamp'];

/** PostgreSQL of one process. */
export class PostgresEnvironment {
  readonly #admin: Admin;
  readonly #folder: string;
  readonly #dataFolder: string;
  #current: SimulatedPostgres | null = null;
  #databases = 0;

  private constructor(admin: Admin, folder: string) {
    this.#admin = admin;
    this.#folder = folder;
    const [row] = admin.query('postgres', 'show data_directory');
    this.#dataFolder = String(row?.data_directory);
  }

  /** Starts PostgreSQL, and gives pg simulated sockets. The process ends PostgreSQL when it ends. */
  static async start(): Promise<PostgresEnvironment> {
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-simulated-postgres-'));
    chmodSync(folder, 0o755);
    const environment = new PostgresEnvironment(await Admin.start(folder), folder);
    process.on('exit', () => environment.#remove());
    environment.#prepare();
    environment.#takeOver();
    return environment;
  }

  #remove(): void {
    this.#admin.kill();
    for (const one of [this.#folder, dirname(this.#dataFolder)])
      rmSync(one, { recursive: true, force: true });
  }

  #prepare(): void {
    const execute = (sql: string, database = 'postgres'): unknown => this.#admin.query(database, sql);
    for (const [name, value] of Object.entries(SETTINGS)) execute(`alter system set ${name} = ${value}`);
    execute('select pg_reload_conf()');
    execute(`create database ${EMPTY}`);
    for (const name of TIME_FUNCTIONS)
      execute(
        `create function public.${name}() returns timestamptz language sql volatile as $$
           select to_timestamp(pg_read_file('${CLOCK_FILE}')::double precision / 1000) $$`,
        EMPTY,
      );
    this.#admin.disconnect(EMPTY);
  }

  #takeOver(): void {
    const openSocket = (): SimulatedSocket => {
      if (!this.#current) throw new Error('No simulated database is open.');
      return this.#current.openSocket();
    };
    const { Client, Pool } = pg;
    class SimulatedClient extends Client {
      constructor(config?: string | pg.ClientConfig) {
        super({
          ...(typeof config === 'string' ? { connectionString: config } : config),
          stream: openSocket,
        });
      }
    }
    class SimulatedPool extends Pool {
      constructor(config?: pg.PoolConfig) {
        super({ ...config, Client: SimulatedClient });
      }
    }
    Object.assign(pg, { Client: SimulatedClient, Pool: SimulatedPool });
    // The name of a lease holder has it.
    Object.defineProperty(process, 'pid', { value: 1 });
  }

  /** Opens the storage of a world; without servers in the template it is empty. */
  readonly open: OpenStorage = (parts) => {
    this.#databases += 1;
    const database = `world_${this.#databases}`;
    const admin = this.#admin;
    const from = parts.isTemplate ? EMPTY : TEMPLATE;
    admin.query('postgres', `create database ${database} template ${from} strategy file_copy`);
    const postgres = new SimulatedPostgres({
      ...{ scheduler: parts.scheduler, draws: parts.createDraws('postgres'), admin, database },
      clockFile: join(this.#dataFolder, CLOCK_FILE),
    });
    this.#current = postgres;
    const cluster = new Cluster({
      ...{ postgres, database, folder: parts.folder, draws: parts.createDraws('balancer') },
      count: parts.isTemplate ? 1 : 2 + parts.createDraws('servers').below(2),
      createParts: (name) => parts.createServerParts(name),
      findLeader: () => {
        const [row] = admin.query(database, "select folder_id from leases where name = 'background-jobs'");
        return row === undefined ? null : String(row.folder_id);
      },
    });
    return this.#createStorage(cluster, database);
  };

  #createStorage(cluster: Cluster, database: string): Storage {
    const admin = this.#admin;
    const { postgres } = cluster;
    const connection: ObservedConnection = {
      readVersion: () => postgres.version,
      prepare(sql) {
        let count = 0;
        const text = sql.replaceAll('?', () => {
          count += 1;
          return `$${count}`;
        });
        return { all: (...values) => admin.query(database, text, values) };
      },
    };
    return {
      servers: cluster,
      cluster,
      isBusy: () => postgres.isBusy(),
      rest: () => postgres.rest(),
      observe: () => connection,
      counts: postgres.counts,
      heal: () => {
        postgres.heal();
        cluster.prefer(null);
      },
      saveTemplate: () => {
        postgres.close();
        admin.disconnect(database);
        admin.query('postgres', `alter database ${database} rename to ${TEMPLATE}`);
      },
      close: () => {
        postgres.close();
        admin.disconnect(database);
        admin.query('postgres', `drop database if exists ${database} with (force)`);
        this.#current = null;
      },
    };
  }
}
