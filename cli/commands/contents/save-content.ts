/** Writes content of the server to this machine. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import { readSignedUrl } from '@switchyard/contract/transfer/signed-url.ts';
import { CommandError } from '../../errors/command-error.ts';
import type { Session } from '../../session/session.ts';
import type { Selection } from '../../terminal/output.ts';
import { downloadContent, downloadToFile, downloadToOutput } from '../../transfer/download.ts';
import { showTransfer } from './transfer-progress.ts';

/** Throws CommandError for a file in a folder that does not exist, before the command changes anything. */
export function checkTarget({ terminal }: Session, target: string): void {
  const folder = dirname(resolve(terminal.cwd, target));
  if (target !== '-' && !existsSync(folder))
    throw new CommandError(`--output is "${target}"; the folder ${folder} does not exist.`);
}

/** Writes the content of a download URL to a file, or to standard output with `-`. An archive is not written to a terminal. */
export async function saveContent(session: Session, url: string, target: string): Promise<void> {
  const { terminal, output } = session;
  checkTarget(session, target);
  const client = session.connect();
  if (target !== '-') {
    const bytes = await showTransfer(session, { label: 'Downloading' }, (options) =>
      downloadToFile(client, url, resolve(terminal.cwd, target), options),
    );
    output.note(`Wrote ${formatBytes(bytes)} to ${target}.`);
    return;
  }
  if (terminal.out.isTTY && readSignedUrl(url).query.type === 'application/gzip')
    throw new CommandError('The content is an archive. Write it to a file with --output FILE.');
  if (session.selection) return printSelected(session, session.selection, url);
  await downloadToOutput(client, url, terminal, { signal: terminal.signal });
  if (terminal.out.isTTY) terminal.out.write('\n');
}

async function printSelected({ connect, terminal }: Session, select: Selection, url: string): Promise<void> {
  const chunks: Uint8Array[] = [];
  const keep = async (chunk: Uint8Array) => void chunks.push(chunk);
  await downloadContent(connect(), url, keep, { signal: terminal.signal });
  terminal.out.write(select(Buffer.concat(chunks).toString('utf8')));
}
