/** Views: named filters, order and columns of the table of runs, private to their author or shared with the account. */
import Type, { type Static } from 'typebox';
import {
  RUN_VIEW_COLUMN_CHARS_MAX,
  RUN_VIEW_COLUMNS_MAX,
  RUN_VIEW_NAME_CHARS_MAX,
  RUN_VIEWS_MAX,
} from '../../limits.ts';
import { defineOperation, respond } from '../../operation.ts';
import { ApplicationParams } from '../../schemas/application-params.ts';
import { conditionFields } from '../../schemas/conditional-writes.ts';
import { nameTextSchema, stringEnum, textSchema, timestampSchema } from '../../schemas/field-schemas.ts';
import { idSchema, type RunViewId } from '../../schemas/ids.ts';
import { RunFilterQuery } from '../run-filters.ts';
import { RUN_VIEW_WINDOWS } from './run-windows.ts';

const { status, instance_id, version_id, user_email, run_type, tag, name, text, indicator, option, sort } =
  RunFilterQuery;

export const RunViewTable = Type.Object(
  {
    filters: Type.Optional(
      Type.Object(
        { status, instance_id, version_id, user_email, run_type, tag, name, text, indicator, option },
        { additionalProperties: false, description: 'Filters, as in the list of runs.' },
      ),
    ),
    sort,
    created_within: Type.Optional(
      stringEnum(
        RUN_VIEW_WINDOWS,
        'Only runs of this time before now, or of this day of the reader. The default is the last year.',
      ),
    ),
    experiments: Type.Optional(
      Type.Boolean({ description: 'true: runs of experiments too. The default is without them.' }),
    ),
    columns: Type.Optional(
      Type.Array(textSchema('A column.', { min: 1, max: RUN_VIEW_COLUMN_CHARS_MAX }), {
        maxItems: RUN_VIEW_COLUMNS_MAX,
        description:
          'Columns after status and run: `instance`, `version`, `user`, `created`, `duration`, `description`, `type`, `priority`, `input`, `indicator:NAME` or `option:NAME`. The console ignores others. The default columns are those of the console.',
      }),
    ),
  },
  { $id: 'RunViewTable', additionalProperties: false, description: 'The state of a table of runs.' },
);
export type RunViewTable = Static<typeof RunViewTable>;

const viewName = nameTextSchema(
  'Name of the view, with at least one visible character. Each of your views of the application has another name.',
  { min: 1, max: RUN_VIEW_NAME_CHARS_MAX },
);

const isShared = Type.Boolean({
  description: 'true: every member of the account sees the view. false: only its author does.',
});

const RunView = Type.Object(
  {
    id: idSchema<RunViewId>('Id of the view.'),
    name: Type.String({ description: 'Name of the view.' }),
    is_shared: isShared,
    author_email: Type.String({ description: 'E-mail address of the author.' }),
    is_own: Type.Boolean({ description: 'true: you are the author.' }),
    table: RunViewTable,
    created_at: timestampSchema('Creation time'),
    updated_at: timestampSchema('Time of the last change'),
  },
  { $id: 'RunView', description: 'A saved view of the runs of an application.' },
);
export type RunView = Static<typeof RunView>;

const RunViewCreate = Type.Object(
  { name: viewName, is_shared: Type.Optional(isShared), table: RunViewTable },
  {
    $id: 'RunViewCreate',
    additionalProperties: false,
    description: 'The view. By default it is not shared.',
  },
);

const RunViewUpdate = Type.Object(
  {
    name: Type.Optional(viewName),
    is_shared: Type.Optional(isShared),
    table: Type.Optional(RunViewTable),
    ...conditionFields,
  },
  {
    $id: 'RunViewUpdate',
    additionalProperties: false,
    description: 'The fields to change. A given `table` replaces the whole table.',
  },
);

const ViewParams = Type.Object({
  ...ApplicationParams.properties,
  view_id: idSchema<RunViewId>('Id of the view.'),
});

const table = {
  filters: { status: 'failed,canceled', instance_id: 'production' },
  sort: '-indicator.result.value',
  created_within: '7d' as const,
  columns: ['instance', 'created', 'indicator:result.value'],
};
const example = {
  id: 'view-01jd3v7k9mq2z5x8',
  name: 'Failed in production',
  is_shared: true,
  author_email: 'planner@example.com',
  is_own: true,
  table,
  created_at: '2026-11-20T08:00:00.000Z',
  updated_at: '2026-11-20T08:00:00.000Z',
};

export const listRunViews = defineOperation({
  id: 'listRunViews',
  method: 'GET',
  path: '/v1/applications/{application_id}/views',
  tag: 'views',
  summary: 'List the views',
  description: 'Returns your views of the runs of the application and those that are shared, by name.',
  right: 'read',
  params: ApplicationParams,
  responses: respond(200, 'The views.', Type.Object({ items: Type.Array(RunView) }), { items: [example] }),
});

export const createRunView = defineOperation({
  id: 'createRunView',
  method: 'POST',
  path: '/v1/applications/{application_id}/views',
  tag: 'views',
  summary: 'Save a view',
  description: `Saves filters, order and columns under a name. You can have ${RUN_VIEWS_MAX} views of an application.`,
  right: 'views',
  params: ApplicationParams,
  body: { schema: RunViewCreate, example: { name: 'Failed in production', is_shared: true, table } },
  responses: respond(201, 'The view.', RunView, example),
});

export const updateRunView = defineOperation({
  id: 'updateRunView',
  method: 'PUT',
  path: '/v1/applications/{application_id}/views/{view_id}',
  tag: 'views',
  summary: 'Change a view',
  description:
    'Changes name, table or visibility of a view. Its author may do this, and for a shared view the roles root and admin.',
  right: 'views',
  params: ViewParams,
  body: { schema: RunViewUpdate, example: { name: 'Failed last week', is_shared: false } },
  responses: respond(200, 'The view.', RunView, example),
});

export const deleteRunView = defineOperation({
  id: 'deleteRunView',
  method: 'DELETE',
  path: '/v1/applications/{application_id}/views/{view_id}',
  tag: 'views',
  summary: 'Delete a view',
  description:
    'Deletes a view; runs stay. Its author may do this, and for a shared view the roles root and admin.',
  right: 'views',
  params: ViewParams,
  responses: { 204: { description: 'Deleted.' } },
});
