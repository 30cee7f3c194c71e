/** The terminal, output, server and application of one command. Each start of the program creates one. */
import type { Client } from '@switchyard/contract/client.ts';
import { CommandError } from '../errors/command-error.ts';
import { EXIT_CODES, type ExitCode } from '../errors/exit-codes.ts';
import { formatOutage } from '../errors/report-error.ts';
import { type Connection, connect, findConnection } from '../profiles/connect.ts';
import type { Profile } from '../profiles/profiles.ts';
import { createLiveLine } from '../terminal/live-line.ts';
import { createOutput, type Form, type Output, type Selection } from '../terminal/output.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { findLinkedApplication } from './application-link.ts';
import { parseSelection } from './parse-selection.ts';

/** The options of every command. */
export interface GlobalOptions {
  profile?: string;
  app?: string;
  json?: boolean;
  quiet?: boolean;
  /** A JMESPath expression, for output in the form of `json`. */
  select?: string;
}

export interface Session {
  readonly terminal: Terminal;
  readonly options: GlobalOptions;
  readonly output: Output;
  /** Selects the part of a JSON text that `--select` prints; undefined without that option. */
  readonly selection: Selection | undefined;
  /** The server of the command. Throws CommandError when none is known. */
  findConnection(): Connection;
  /**
   * The client for the server, which outlasts a restart of it. Throws CommandError when none is known. The first call says
   * whether a server that does not answer from the start is waited for as well.
   */
  connect(options?: { expectsServer?: boolean }): Client;
  /** A client for the server of a profile. */
  connectTo(profile: Profile): Client;
  /** The id of the application of the command. Throws CommandError when none is known. */
  findApplication(): string;
  /** Sets the options of the command before it starts. */
  configure(options: GlobalOptions): void;
  /** The code with which the program exits when no error is thrown. */
  exitCode: ExitCode;
}

export function createSession(terminal: Terminal): Session {
  let options: GlobalOptions = {};
  let output = createOutput(terminal, 'text');
  let selection: Selection | undefined;
  let client: Client | undefined;
  const session: Session = {
    terminal,
    exitCode: EXIT_CODES.success,
    get options() {
      return options;
    },
    get output() {
      return output;
    },
    get selection() {
      return selection;
    },
    findConnection: () => findConnection(terminal, options.profile),
    connect: ({ expectsServer = false } = {}) => {
      client ??= connectTo(session.findConnection(), expectsServer);
      return client;
    },
    connectTo: (profile) => connectTo(profile, false),
    findApplication: () => {
      const found =
        options.app || terminal.env.SWITCHYARD_APP || findLinkedApplication(terminal.cwd) || findDefault();
      if (found) return found;
      throw new CommandError(
        'The application is not known. Give its id as the last argument or with --app, set SWITCHYARD_APP, or work in the folder of an app.',
      );
    },
    configure: (next) => {
      if (next.json && next.quiet)
        throw new CommandError('--json and --quiet exclude each other; give one of them.');
      if (next.select !== undefined && next.quiet)
        throw new CommandError('--select and --quiet exclude each other; give one of them.');
      selection =
        next.select === undefined ? undefined : parseSelection(next.select, { isJson: next.json ?? false });
      options = next;
      output = createOutput(terminal, chooseForm(next), selection);
    },
  };
  const connectTo = (profile: Profile, expectsServer: boolean): Client =>
    connect(profile, {
      signal: terminal.signal,
      expectsServer,
      // A line of progress is drawn again at its next change.
      onOutage: (error, waitMs) =>
        createLiveLine(terminal).printAbove(() => output.note(formatOutage(error, waitMs))),
    });
  const findDefault = (): string | undefined => session.findConnection().application;
  return session;
}

function chooseForm({ json, quiet, select }: GlobalOptions): Form {
  return json || select !== undefined ? 'json' : quiet ? 'quiet' : 'text';
}
