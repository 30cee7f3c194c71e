import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import type { Ensemble } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { formatTolerance } from '@switchyard/contract/runs/presentation/format-tolerance.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type Meaning, useMeaning } from '../../client/indicator-meaning.ts';
import { AnswerSentence } from '../../ui/answer.tsx';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { ResourceHeading } from '../../ui/resources/resource-heading.tsx';
import { EnsembleActions } from './ensemble-actions.tsx';
import { EnsembleRuns } from './ensemble-runs.tsx';
import { ensembleQuery } from './queries.ts';

const route = getRouteApi('/signed-in/apps/$application/ensembles/$ensemble');

/** One ensemble: its runs, and the groups and rules of its definition. */
export function EnsemblePage() {
  const { application, ensemble: id } = route.useParams();
  const { data: ensemble } = useSuspenseQuery(ensembleQuery(application, id));
  const meaning = useMeaning(application);
  usePageTitle(ensemble.name, 'Ensembles', application);
  return (
    <>
      <PageHeader
        title={ensemble.name}
        description={<ResourceHeading id={id} noun="ensemble" description={ensemble.description} />}
        actions={<EnsembleActions application={application} ensemble={ensemble} />}
      />
      <div className="sections">
        <AnswerSentence icon="ensemble" title={describeEnsemble(ensemble, meaning)} />
        <EnsembleRuns application={application} ensemble={ensemble} />
        <Groups ensemble={ensemble} />
        <Rules ensemble={ensemble} nameIndicator={meaning.nameIndicator} />
      </div>
    </>
  );
}

/** Returns what a run of the ensemble does, such as `3 runs on one input, 2 of new and 1 of old: the lowest cost wins.` */
function describeEnsemble({ run_groups, rules }: Ensemble, { nameIndicator }: Meaning): string {
  const count = (groups: typeof run_groups) => groups.reduce((sum, { repetitions }) => sum + repetitions, 0);
  const runs = count(run_groups);
  const groups = [...Map.groupBy(run_groups, ({ instance_id }) => instance_id)].map(
    ([instance, own]) =>
      `${own.length === run_groups.length ? 'all' : formatNumber(count(own))} of ${escapeInvisible(instance)}`,
  );
  const [first] = rules.toSorted((one, other) => one.index - other.index);
  const best =
    first &&
    `the ${first.objective === 'minimize' ? 'lowest' : 'highest'} ${namePath(first.statistics_path, nameIndicator)} wins`;
  return `${formatNumber(runs)} ${runs === 1 ? 'run' : 'runs'} on one input, ${groups.join(' and ')}${best ? `: ${best}` : ''}.`;
}

/** Returns the label of the indicator at a path such as `$.result.value`; another path as it is. */
function namePath(path: string, nameIndicator: Meaning['nameIndicator']): string {
  return nameIndicator(path.replace(/^\$\./, ''));
}

function Groups({ ensemble }: { ensemble: Ensemble }) {
  return (
    <section aria-labelledby="groups">
      <h2 id="groups">Run groups</h2>
      <DataTable
        label="Run groups"
        rows={ensemble.run_groups}
        columns={[
          { title: 'Group', cell: ({ id }) => id },
          { title: 'Instance', cell: ({ instance_id }) => instance_id },
          { title: 'Runs', kind: 'number', cell: ({ repetitions }) => repetitions },
          {
            title: 'Options',
            hover: ({ options }) => formatOptions(options),
            cell: ({ options }) => <bdi>{formatOptions(options)}</bdi>,
          },
        ]}
      />
    </section>
  );
}

function formatOptions(options: Record<string, string>): string {
  const texts = Object.entries(options).map(([name, value]) => `${name} = ${value}`);
  return escapeInvisible(texts.join(', ')) || '–';
}

function Rules({ ensemble, nameIndicator }: { ensemble: Ensemble } & Pick<Meaning, 'nameIndicator'>) {
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">Rules</h2>
      <DataTable
        label="Rules"
        rows={ensemble.rules.toSorted((one, other) => one.index - other.index)}
        columns={[
          { title: 'Rule', cell: ({ id }) => id },
          {
            title: 'Indicator',
            hover: ({ statistics_path }) => statistics_path,
            cell: ({ statistics_path }) => <bdi>{namePath(statistics_path, nameIndicator)}</bdi>,
          },
          { title: 'Objective', cell: ({ objective }) => objective },
          {
            title: 'Counts as equal',
            cell: ({ tolerance }) => formatTolerance(tolerance) || 'equal values only',
          },
        ]}
      />
    </section>
  );
}
