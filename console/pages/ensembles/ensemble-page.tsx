import type { Ensemble } from '@switchyard/contract/runs/ensemble-schemas.ts';
import { formatTolerance } from '@switchyard/contract/runs/presentation/format-tolerance.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { ResourceHeading } from '../../ui/resources/resource-heading.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import table from '../../ui/table.module.css';
import { EnsembleActions } from './ensemble-actions.tsx';
import { EnsembleRuns } from './ensemble-runs.tsx';
import { ensembleQuery } from './queries.ts';

const route = getRouteApi('/signed-in/apps/$application/ensembles/$ensemble');

/** One ensemble: its runs, and the groups and rules of its definition. */
export function EnsemblePage() {
  const { application, ensemble: id } = route.useParams();
  const { data: ensemble } = useSuspenseQuery(ensembleQuery(application, id));
  usePageTitle(ensemble.name, 'Ensembles', application);
  return (
    <>
      <PageHeader
        title={ensemble.name}
        description={<ResourceHeading id={id} noun="ensemble" description={ensemble.description} />}
        actions={<EnsembleActions application={application} ensemble={ensemble} />}
      />
      <div className="sections">
        <EnsembleRuns application={application} ensemble={ensemble} />
        <Groups ensemble={ensemble} />
        <Rules ensemble={ensemble} />
      </div>
    </>
  );
}

function Groups({ ensemble }: { ensemble: Ensemble }) {
  return (
    <section aria-labelledby="groups">
      <h2 id="groups">Run groups</h2>
      <TableRegion label="Table of groups">
        <table className={table.table}>
          <thead>
            <tr>
              <th>Group</th>
              <th>Instance</th>
              <th className={table.number}>Runs</th>
              <th>Options</th>
            </tr>
          </thead>
          <tbody>
            {ensemble.run_groups.map(({ id, instance_id, repetitions, options }) => (
              <tr key={id}>
                <td>{id}</td>
                <td>{instance_id}</td>
                <td className={table.number}>{repetitions}</td>
                <td className="anywhere">
                  {Object.entries(options)
                    .map(([name, value]) => `${name} = ${value}`)
                    .join(', ') || '–'}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableRegion>
    </section>
  );
}

function Rules({ ensemble }: { ensemble: Ensemble }) {
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">Rules</h2>
      <TableRegion label="Table of rules">
        <table className={table.table}>
          <TableHead texts={['Rule', 'Indicator', 'Objective', 'Counts as equal']} />
          <tbody>
            {ensemble.rules
              .toSorted((one, other) => one.index - other.index)
              .map(({ id, statistics_path, objective, tolerance }) => (
                <tr key={id}>
                  <td>{id}</td>
                  <td className="anywhere">{statistics_path}</td>
                  <td>{objective}</td>
                  <td>{formatTolerance(tolerance) || 'equal values only'}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </TableRegion>
    </section>
  );
}
