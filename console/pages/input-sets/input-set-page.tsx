import type { InputSetInput } from '@switchyard/contract/applications/input-sets.ts';
import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { client } from '../../client/client.ts';
import { DataTable } from '../../ui/data-table/data-table.tsx';
import { FactList } from '../../ui/facts.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { ResourceHeading } from '../../ui/resources/resource-heading.tsx';
import { RunLink } from '../../ui/run-link.tsx';
import { ContentView } from '../../ui/solution/content-view.tsx';
import { toLocalUrl } from '../../ui/solution/run-content.tsx';
import { describeSource } from './describe-source.ts';
import { InputSetActions } from './input-set-actions.tsx';
import styles from './input-sets-page.module.css';
import { inputSetQuery } from './queries.ts';

const route = getRouteApi('/signed-in/apps/$application/input-sets/$inputSet');

/** One input set: its inputs, and the content of the chosen one. */
export function InputSetPage() {
  const { application, inputSet: id } = route.useParams();
  const { input: chosen } = route.useSearch();
  const { data: set } = useSuspenseQuery(inputSetQuery(application, id));
  const visible = set.inputs.find((one) => one.id === chosen) ?? set.inputs[0];
  usePageTitle(set.name, 'Input sets', application);
  return (
    <>
      <PageHeader
        title={set.name}
        description={<ResourceHeading id={set.id} noun="input set" description={set.description} />}
        actions={<InputSetActions application={application} set={set} />}
      />
      <div className={styles.facts}>
        <FactList
          facts={[
            ['Inputs', `${set.inputs.length} from ${describeSource(set)}`],
            ['Created', <RelativeTime key="created" at={set.created_at} />],
            ['Changed', set.updated_at !== set.created_at && <RelativeTime at={set.updated_at} />],
          ]}
        />
      </div>
      <div className={styles.sections}>
        <InputTable inputs={set.inputs} visible={visible?.id} />
        {visible && <Preview input={visible} />}
      </div>
    </>
  );
}

function InputTable({ inputs, visible }: { inputs: readonly InputSetInput[]; visible: string | undefined }) {
  const { application } = route.useParams();
  return (
    <DataTable
      label="Inputs"
      rows={inputs}
      isCurrent={({ id }) => id === visible}
      columns={[
        {
          title: 'Input',
          hover: ({ id, name }) => name || id,
          cell: ({ id, name }) => (
            <>
              <Link
                from="/apps/$application/input-sets/$inputSet"
                to="."
                search={{ input: id }}
                resetScroll={false}
              >
                <bdi>{name || id}</bdi>
              </Link>{' '}
              {name !== '' && name !== id && <code className="soft">{id}</code>}
            </>
          ),
        },
        { title: 'Format', onPhone: 'plain', cell: ({ format }) => format.input.type },
        {
          title: 'Source',
          onPhone: 'plain',
          cell: ({ run_id: run }) =>
            run === undefined ? (
              'managed input'
            ) : (
              <RunLink application={application} run={run}>
                <code>{run}</code>
              </RunLink>
            ),
        },
      ]}
    />
  );
}

/** The content of one input. Its download URL is read again with the set, because it is valid for ten minutes. */
function Preview({ input }: { input: InputSetInput }) {
  const { application, inputSet } = route.useParams();
  const getUrl = async (signal: AbortSignal) => {
    const params = { application_id: application, input_set_id: inputSet };
    const { body } = await client.call('getInputSet', { params, signal });
    const url = body.inputs.find(({ id }) => id === input.id)?.download_url;
    return url === undefined ? undefined : toLocalUrl(url);
  };
  return (
    <section aria-labelledby="preview">
      <h2 id="preview">{input.name || input.id}</h2>
      <ContentView
        key={input.id}
        label="Input"
        fileName={input.id}
        source={{ key: [application, 'input set', inputSet, input.id], getUrl }}
      />
    </section>
  );
}
