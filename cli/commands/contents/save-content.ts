/** Writes content of the server to this machine. */
import { resolve } from 'node:path';
import { CommandError } from '../../errors/command-error.ts';
import type { Session } from '../../session/session.ts';
import { formatBytes } from '../../terminal/format-bytes.ts';
import { downloadContent, downloadToFile, downloadToOutput } from '../../transfer/download.ts';
import { readSignedUrl } from '../../transfer/signed-url.ts';
import { showTransfer } from './transfer-progress.ts';

/** Writes the content of a download URL to a file, or to standard output with `-`. An archive is not written to a terminal. */
export async function saveContent(session: Session, url: string, target: string): Promise<void> {
  const { terminal, output } = session;
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
  if (session.options.select !== undefined) return printSelected(session, url);
  await downloadToOutput(client, url, terminal, { signal: terminal.signal });
  if (terminal.out.isTTY) terminal.out.write('\n');
}

async function printSelected({ connect, output, terminal }: Session, url: string): Promise<void> {
  const chunks: Uint8Array[] = [];
  const keep = async (chunk: Uint8Array) => void chunks.push(chunk);
  await downloadContent(connect(), url, keep, { signal: terminal.signal });
  let value: unknown;
  try {
    value = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw new CommandError('The content is not JSON, from which --select could select. Leave out --select.');
  }
  output.printJson(value);
}
