import type { SharedRun } from '@switchyard/contract/account/share-links.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatDuration, formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { Logo } from '@switchyard/design/logo.tsx';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { describeError } from '../../client/client.ts';
import { AssetSourceView } from '../../ui/assets/asset-view.tsx';
import { FactList } from '../../ui/facts.tsx';
import { Notice } from '../../ui/notice.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { TableHead } from '../../ui/resources/table-head.tsx';
import { TableRegion } from '../../ui/resources/table-region.tsx';
import { ContentView } from '../../ui/solution/content-view.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import table from '../../ui/table.module.css';
import { getSharedSource, sharedRunQuery } from './queries.ts';
import styles from './shared-run-page.module.css';

/** The chosen parts of a run, for people without an account. */
export function SharedRunPage() {
  const { token } = useParams({ from: '/shared/$token' });
  const { data: run, error } = useQuery(sharedRunQuery(token));
  usePageTitle(run?.summary?.name || 'Shared run');
  return (
    <div className={styles.page}>
      <header className={styles.brand}>
        <Logo />
        <span>Switchyard</span>
      </header>
      <main>
        {error && (
          <>
            <h1>Shared run</h1>
            <Notice kind="error">{describeError(error)}</Notice>
          </>
        )}
        {!run && !error && <p role="status">Loading…</p>}
        {run && <SharedParts run={run} token={token} />}
      </main>
    </div>
  );
}

function SharedParts({ run, token }: { run: SharedRun; token: string }) {
  const { summary } = run;
  return (
    <>
      <h1 className={styles.title}>
        <bdi>{escapeInvisible(summary?.name || summary?.id || 'Shared run')}</bdi>
        {summary && <StatusBadge status={summary.status_v2} />}
      </h1>
      <p className="soft">
        A read-only page. The link stops working <RelativeTime at={run.expires_at} />.
      </p>
      {summary && <Summary summary={summary} />}
      {run.indicators && (
        <Values title="Indicators" rows={run.indicators.map(({ name, value }) => [name, value])} />
      )}
      {run.assets?.map((asset) => (
        <Section key={asset.id} title={asset.name}>
          <AssetSourceView asset={asset} source={getSharedSource(token, asset.id)} />
        </Section>
      ))}
      {run.output && <Content token={token} part="output" title="Output" />}
      {run.options && <Values title="Options" rows={run.options.map(({ name, value }) => [name, value])} />}
      {run.input && <Content token={token} part="input" title="Input" />}
      {run.log && <Content token={token} part="log" title="Log" />}
    </>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.section}>
      <h2>
        <bdi>{escapeInvisible(title)}</bdi>
      </h2>
      {children}
    </section>
  );
}

function Content({ token, part, title }: { token: string; part: string; title: string }) {
  return (
    <Section title={title}>
      <ContentView source={getSharedSource(token, part)} label={title} fileName={part} />
    </Section>
  );
}

function Summary({ summary }: { summary: NonNullable<SharedRun['summary']> }) {
  return (
    <>
      {summary.description !== '' && <p>{escapeInvisible(summary.description)}</p>}
      <FactList
        layout="columns"
        facts={[
          ['Application', summary.application_id],
          ['Instance', summary.application_instance_id || 'latest'],
          ['Created', <RelativeTime key="created" at={summary.created_at} />],
          ['Run time', formatDuration(summary.execution_duration)],
        ]}
      />
      {summary.error !== '' && <Notice kind="warning">{escapeInvisible(summary.error)}</Notice>}
    </>
  );
}

function Values({
  title,
  rows,
}: {
  title: string;
  rows: readonly (readonly [name: string, value: string | number | boolean])[];
}) {
  return (
    <Section title={title}>
      {rows.length === 0 ? (
        <p className="soft">The run has none.</p>
      ) : (
        <TableRegion label={`Table of ${title.toLowerCase()}`}>
          <table className={table.table} aria-label={title}>
            <TableHead texts={['Name']} numbers={['Value']} />
            <tbody>
              {rows.map(([name, value], index) => (
                <tr key={`${index} ${name}`}>
                  <td>
                    <bdi>{escapeInvisible(name)}</bdi>
                  </td>
                  <td className={table.number}>
                    <bdi>
                      {typeof value === 'number' ? formatNumber(value) : escapeInvisible(String(value))}
                    </bdi>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableRegion>
      )}
    </Section>
  );
}
