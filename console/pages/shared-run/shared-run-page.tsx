import type { SharedRun } from '@switchyard/contract/account/share-links.ts';
import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { capitalise } from '@switchyard/contract/presentation/format-count.ts';
import {
  formatDuration,
  formatNumber,
  formatObjective,
} from '@switchyard/contract/presentation/format-quantity.ts';
import { Logo } from '@switchyard/design/logo.tsx';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { describeError } from '../../client/client.ts';
import { ThemeButton } from '../../layout/theme-button.tsx';
import { Answer } from '../../ui/answer.tsx';
import { AssetSourceView } from '../../ui/assets/asset-view.tsx';
import { Button } from '../../ui/button.tsx';
import type { ContentMode } from '../../ui/content/content-mode.ts';
import { useContent } from '../../ui/content/content-query.ts';
import { FactList, type Facts } from '../../ui/facts.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { ContentView } from '../../ui/solution/content-view.tsx';
import { findViews } from '../../ui/solution/find-views.ts';
import { SolutionView } from '../../ui/solution/solution-view.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { getSharedSource, sharedRunQuery } from './queries.ts';
import styles from './shared-run-page.module.css';

const NUMBERS_MAX = 5;
const NO_OUTPUT = { value: undefined };
const exact = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' },
});

/** The chosen parts of a run, for people without an account. */
export function SharedRunPage() {
  const { token } = useParams({ from: '/shared/$token' });
  const { data: run, error } = useQuery(sharedRunQuery(token));
  usePageTitle(run?.summary?.name || 'Shared plan');
  return (
    <div className={styles.page}>
      <header className={styles.from}>
        <Logo />
        <span>Switchyard</span>
        {run && <span className="meta">read-only, until {exact.format(Date.parse(run.expires_at))}</span>}
        <ThemeButton />
      </header>
      <main className={styles.sheet}>
        {error && (
          <>
            <h1>Shared plan</h1>
            <Notice kind="error">{describeError(error)}</Notice>
          </>
        )}
        {!run && !error && (
          <div role="status" aria-label="Loading" className={styles.bones}>
            <span className="bone bone-title" />
            <span className="bone bone-picture" />
          </div>
        )}
        {run && <Parts run={run} token={token} />}
      </main>
    </div>
  );
}

/** The name, the plan and its numbers; then what explains them. */
function Parts({ run, token }: { run: SharedRun; token: string }) {
  const { content, error } = useContent(run.output ? getSharedSource(token, 'output') : NO_OUTPUT);
  const found = useMemo(() => (content?.kind === 'json' ? findViews(content.value) : undefined), [content]);
  const plan = found && found.views.length > 0 ? found : undefined;
  const isLoading = content === undefined && !error;
  const { summary } = run;
  const numbers = listNumbers(run.indicators ?? []);
  return (
    <>
      <PageHeader
        title={<bdi>{escapeInvisible(summary?.name || 'Shared plan')}</bdi>}
        badge={summary && summary.status_v2 !== 'succeeded' && <StatusBadge status={summary.status_v2} />}
        description={
          summary && (
            <>
              made {exact.format(Date.parse(summary.finished_at ?? summary.created_at))}
              {summary.description !== '' && <p>{escapeInvisible(summary.description)}</p>}
            </>
          )
        }
        actions={<Button onPress={() => window.print()}>Print</Button>}
      />
      {summary && summary.error !== '' && <Notice kind="warning">{escapeInvisible(summary.error)}</Notice>}
      {isLoading && <span className="bone bone-picture" role="status" aria-label="Loading the plan" />}
      {plan && <SolutionView found={plan} fileName="plan" />}
      {numbers.length > 0 && <Answer numbers={numbers} />}
      {run.assets?.map((asset) => (
        <Section key={asset.id} title={asset.name} isOpen>
          <AssetSourceView asset={asset} source={getSharedSource(token, asset.id)} />
        </Section>
      ))}
      {run.output && !isLoading && <Content token={token} part="output" title="Output" isOpen={!plan} />}
      {run.indicators && (
        <Values title="Indicators" rows={run.indicators.map(({ name, value }) => [name, value])} />
      )}
      {run.options && <Values title="Options" rows={run.options.map(({ name, value }) => [name, value])} />}
      {run.input && <Content token={token} part="input" title="Input" />}
      {run.log && <Content token={token} part="log" title="Log" />}
      {summary && (
        <Values
          title="Run"
          rows={[
            ['Application', summary.application_id],
            ['Instance', summary.application_instance_id || 'latest'],
            ['Run time', formatDuration(summary.execution_duration)],
          ]}
        />
      )}
    </>
  );
}

interface ContentProps {
  token: string;
  part: 'input' | 'output' | 'log';
  title: string;
  isOpen?: boolean;
}

/** A content as data: its views are above. */
function Content({ token, part, title, isOpen = false }: ContentProps) {
  const [mode, setMode] = useState<ContentMode>(isOpen ? 'view' : 'tree');
  return (
    <Section title={title} isOpen={isOpen}>
      <ContentView
        source={getSharedSource(token, part)}
        label={title}
        fileName={part}
        mode={mode}
        onSelectMode={setMode}
      />
    </Section>
  );
}

/** Returns the first numbers of the app. The objective is the first of them; times of the run are in the details. */
function listNumbers(indicators: NonNullable<SharedRun['indicators']>) {
  return indicators
    .filter(({ name }) => name === 'result.value' || name.startsWith('result.custom.') || !name.includes('.'))
    .toSorted((one, other) => Number(other.name === 'result.value') - Number(one.name === 'result.value'))
    .flatMap(({ name, value }) => {
      if (typeof value !== 'number') return [];
      const words = name === 'result.value' ? 'Objective' : name.replace(/^.*\./, '').replaceAll('_', ' ');
      return [
        {
          label: escapeInvisible(capitalise(words)),
          text: formatObjective(value),
          exact: formatNumber(value),
        },
      ];
    })
    .slice(0, NUMBERS_MAX);
}

/** A part that opens with a press, and loads only then. */
function Section({
  title,
  isOpen = false,
  children,
}: {
  title: string;
  isOpen?: boolean;
  children: ReactNode;
}) {
  const [wasOpened, setOpened] = useState(false);
  return (
    <details
      className={styles.section}
      open={isOpen}
      onToggle={(event) => event.currentTarget.open && setOpened(true)}
    >
      <summary>
        <h2>
          <bdi>{escapeInvisible(title)}</bdi>
        </h2>
      </summary>
      {(isOpen || wasOpened) && children}
    </details>
  );
}

function Values({
  title,
  rows,
}: {
  title: string;
  rows: readonly [name: string, value: string | number | boolean][];
}) {
  const facts: Facts = rows.map(([name, value]) => [
    escapeInvisible(name),
    typeof value === 'number' ? formatNumber(value) : escapeInvisible(String(value)) || '–',
  ]);
  return (
    <Section title={title}>
      {rows.length === 0 ? (
        <p className="soft">The run has none.</p>
      ) : (
        <FactList facts={facts} layout="columns" />
      )}
    </Section>
  );
}
