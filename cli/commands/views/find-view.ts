/** Finds a saved view, and turns it into a query of runs. */
import type { CallRequest, ResponseBody } from '@switchyard/contract/client.ts';
import type { Operations } from '@switchyard/contract/operations.ts';
import { computeRunWindow } from '@switchyard/contract/runs/views/run-windows.ts';
import { CommandError } from '../../errors/command-error.ts';
import { EXIT_CODES } from '../../errors/exit-codes.ts';
import { dropUndefined } from '../../session/drop-undefined.ts';
import type { Session } from '../../session/session.ts';

export type RunView = ResponseBody<'listRunViews'>['items'][number];
type Query = NonNullable<CallRequest<Operations['listRuns']>['query']>;

/** Returns the view with the id or the name; your own comes before one that another person shares. */
export async function findView(session: Session, text: string): Promise<RunView> {
  const application_id = session.findApplication();
  const { body } = await session.connect().call('listRunViews', { params: { application_id } });
  const found = chooseView(body.items, text);
  if (found) return found;
  throw new CommandError(
    `Application ${application_id} has no view "${text}". List the views with: switchyard views list`,
    EXIT_CODES.notFound,
  );
}

/** Returns the view that the text means, or undefined. Throws CommandError for a name that several other people share. */
export function chooseView<View extends { id: string; name: string; is_own: boolean }>(
  views: readonly View[],
  text: string,
): View | undefined {
  const named = views.filter(({ name }) => name === text);
  const found = views.find(({ id }) => id === text) ?? named.find(({ is_own }) => is_own);
  if (found || named.length <= 1) return found ?? named[0];
  throw new CommandError(
    `${named.length} people share a view "${text}". Give the id of one: ${named.map(({ id }) => id).join(', ')}.`,
  );
}

/** Returns the filters and the order of a view. Its time counts from now. */
export function buildViewQuery({ table }: Pick<RunView, 'table'>): Query {
  return dropUndefined({
    ...table.filters,
    sort: table.sort,
    ...(table.created_within && computeRunWindow(table.created_within, Date.now())),
    production: !table.experiments,
  });
}
