/** Commands for the assets of a run. */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import type { ResponseBody } from '@switchyard/contract/client.ts';
import { formatBytes } from '@switchyard/contract/presentation/format-quantity.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { readPages } from '../../session/list-items.ts';
import type { Session } from '../../session/session.ts';
import { downloadToFile } from '../../transfer/download.ts';
import { saveContent } from '../contents/save-content.ts';
import { showTransfer } from '../contents/transfer-progress.ts';
import type { RunParams } from './follow-run.ts';

type Asset = ResponseBody<'listRunAssets'>['items'][number];

const FILE_NAME_CHARS_MAX = 100;

/** Defines `assets` and `assets download`. */
export function defineAssetCommands(program: Command, session: Session): void {
  const assets = program
    .command('assets')
    .description('List the assets of a run.')
    .argument('<run>', 'The id of the run.')
    .addHelpText('after', '\nExample:\n  switchyard assets run-01jd3v7k9mq2z5x8')
    .action((run_id) => printAssets(session, { application_id: session.findApplication(), run_id }));
  assets
    .command('download')
    .description('Write all assets of a run into a folder, or one of them into a file.')
    .argument('<run>', 'The id of the run.')
    .argument('[asset]', 'The id or the name of one asset.')
    .option('--output <path>', 'The folder, or the file of one asset; - for standard output.')
    .addHelpText(
      'after',
      `
Examples:
  switchyard assets download run-01jd3v7k9mq2z5x8 --output assets
  switchyard assets download run-01jd3v7k9mq2z5x8 Routes --output routes.json`,
    )
    .action((run_id, asset, { output }) => {
      const params = { application_id: session.findApplication(), run_id };
      return asset === undefined
        ? downloadAll(session, params, output ?? '.')
        : downloadOne(session, params, { asset, target: output ?? '-' });
    });
}

async function listAssets(session: Session, params: RunParams): Promise<Asset[]> {
  const client = session.connect();
  const { items } = await readPages(
    Number.POSITIVE_INFINITY,
    async (page) =>
      (await client.call('listRunAssets', { params, query: { ...page, pagereturn: true } })).body,
  );
  return items;
}

async function printAssets(session: Session, params: RunParams): Promise<void> {
  const items = await listAssets(session, params);
  session.output.printTable(
    items,
    {
      ASSET: 'id',
      NAME: 'name',
      SIZE: { value: ({ size }) => formatBytes(size), isNumeric: true },
      DESCRIPTION: 'description',
    },
    { json: { items }, empty: `Run ${params.run_id} has no assets.`, id: ({ id }) => id },
  );
}

async function requestUrl(session: Session, params: RunParams, { id }: Asset): Promise<string> {
  const { body } = await session.connect().call('getRunAsset', { params: { ...params, asset_id: id } });
  return body.download_url;
}

async function downloadAll(session: Session, params: RunParams, target: string): Promise<void> {
  const folder = resolve(session.terminal.cwd, target);
  const files: { asset_id: string; file: string }[] = [];
  const used = new Set<string>();
  for (const [index, asset] of (await listAssets(session, params)).entries()) {
    mkdirSync(folder, { recursive: true });
    const file = chooseFileName(asset, { used, position: index + 1 });
    const url = await requestUrl(session, params, asset);
    await showTransfer(session, { label: file, total: asset.size }, (options) =>
      downloadToFile(session.connect(), url, join(folder, file), options),
    );
    files.push({ asset_id: asset.id, file });
  }
  session.output.printTable(
    files,
    { ASSET: 'asset_id', FILE: ({ file }) => join(target, file) },
    { json: { files }, empty: `Run ${params.run_id} has no assets.`, id: ({ file }) => file },
  );
}

/**
 * Returns the name of the asset as that of a file in the folder. An app chooses the names and the server the ids, so both may
 * have a path.
 */
export function chooseFileName(
  { id, name }: { id: string; name: string },
  { used, position }: { used: Set<string>; position: number },
): string {
  const names = [name, id, `${id}-${position}`].map(plainName);
  const files = names.filter((one) => one !== '').map((one) => (/\.json$/i.test(one) ? one : `${one}.json`));
  const file = files.find((one) => !used.has(one.toLowerCase())) ?? `asset-${position}.json`;
  used.add(file.toLowerCase());
  return file;
}

function plainName(text: string): string {
  return text
    .replaceAll(/[^\p{L}\p{N} _.-]+/gu, '-')
    .replace(/^[-. ]+/, '')
    .slice(0, FILE_NAME_CHARS_MAX)
    .toWellFormed();
}

async function downloadOne(
  session: Session,
  params: RunParams,
  { asset, target }: { asset: string; target: string },
): Promise<void> {
  const items = await listAssets(session, params);
  const found = items.find(({ id }) => id === asset) ?? items.find(({ name }) => name === asset);
  if (!found)
    throw new CommandError(
      `Run ${params.run_id} has no asset "${asset}"; "switchyard assets ${params.run_id}" lists them.`,
      EXIT_CODES.notFound,
    );
  await saveContent(session, await requestUrl(session, params, found), target);
}
