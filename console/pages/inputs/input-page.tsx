import { useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { client } from '../../client/client.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { FactList } from '../../ui/facts.tsx';
import { MoreMenu } from '../../ui/menu.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { usePageTitle } from '../../ui/page-title.ts';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { RenameDialog } from '../../ui/resources/rename-dialog.tsx';
import { ResourceHeading } from '../../ui/resources/resource-heading.tsx';
import { ContentView } from '../../ui/solution/content-view.tsx';
import { toLocalUrl } from '../../ui/solution/run-content.tsx';
import { useRight } from '../../ui/use-right.ts';
import { InputSource } from './input-source.tsx';
import styles from './inputs-page.module.css';
import { inputQuery, refreshInputs } from './queries.ts';

const route = getRouteApi('/signed-in/apps/$application/inputs/$input');

/** One managed input: its origin and its content. */
export function InputPage() {
  const { application, input: id } = route.useParams();
  const { mode } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: input } = useSuspenseQuery(inputQuery(application, id));
  const mayRun = useRight('run');
  usePageTitle(input.name, 'Inputs', application);
  return (
    <>
      <PageHeader
        title={input.name}
        description={<ResourceHeading id={input.id} noun="input" description={input.description} />}
        actions={
          <>
            {mayRun && (
              <LinkButton
                kind="primary"
                to="/apps/$application/new-run"
                params={{ application }}
                search={{ input: id }}
              >
                New run
              </LinkButton>
            )}
            <InputActions />
          </>
        }
      />
      <div className={styles.facts}>
        <FactList
          facts={[
            ['Format', input.format.input.type],
            ['Source', <InputSource key="source" application={application} input={input} />],
            ['Created', <RelativeTime key="created" at={input.created_at} />],
            ['Changed', input.updated_at !== input.created_at && <RelativeTime at={input.updated_at} />],
          ]}
        />
      </div>
      <ContentView
        label="Input"
        fileName={input.id}
        source={{
          key: [application, 'managed input', id, input.created_at],
          getUrl: async (signal) => {
            const { body } = await client.call('getInput', {
              params: { application_id: application, input_id: id },
              signal,
            });
            return toLocalUrl(body.download_url);
          },
        }}
        mode={mode}
        onSelectMode={(chosen) => void navigate({ search: { mode: chosen }, replace: true })}
      />
    </>
  );
}

function InputActions() {
  const [dialog, setDialog] = useState<'rename' | 'delete'>();
  const close = () => setDialog(undefined);
  if (!useRight('experiment')) return null;
  return (
    <>
      <MoreMenu>
        <Button onPress={() => setDialog('rename')}>Rename</Button>
        <Button onPress={() => setDialog('delete')}>Delete</Button>
      </MoreMenu>
      {dialog === 'rename' && <RenameInput onClose={close} />}
      {dialog === 'delete' && <DeleteInput onClose={close} />}
    </>
  );
}

function RenameInput({ onClose }: { onClose: () => void }) {
  const { application, input: id } = route.useParams();
  const { data: input } = useSuspenseQuery(inputQuery(application, id));
  const params = { application_id: application, input_id: id };
  return (
    <RenameDialog
      noun="input"
      current={input}
      fetchCurrent={async () => (await client.call('getInput', { params })).body}
      buildRequest={(body) => ['updateInput', { params, body }]}
      onRename={async (body, condition) => {
        await client.call('updateInput', { params, body: { ...body, ...condition } });
        await refreshInputs();
        onClose();
      }}
      onClose={onClose}
    >
      <p>Runs and input sets keep the name that the input had.</p>
    </RenameDialog>
  );
}

function DeleteInput({ onClose }: { onClose: () => void }) {
  const { application, input: id } = route.useParams();
  const navigate = route.useNavigate();
  return (
    <ConfirmDialog
      title={`Delete ${id}?`}
      word={id}
      action="Delete input"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('deleteInput', { params: { application_id: application, input_id: id } });
        await navigate({ to: '/apps/$application/inputs', params: { application } });
        await refreshInputs();
      }}
    >
      <p>Runs and input sets that use it have their own copy and stay.</p>
    </ConfirmDialog>
  );
}
