import type { MarketplaceApp } from '@switchyard/contract/marketplace/marketplace-apps.ts';
import { Suspense, useState } from 'react';
import { client } from '../../client/client.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { FormDialog } from '../../ui/forms/form-dialog.tsx';
import { useRight } from '../../ui/use-right.ts';
import { EditApp } from './edit-app.tsx';
import { PublishVersion } from './publish-version.tsx';
import { readAppParams, refreshApps } from './queries.ts';

type OpenDialog = 'version' | 'edit' | 'release' | 'retract';

interface DialogProps {
  app: MarketplaceApp;
  onClose: () => void;
}

/** Publishes a version, changes the texts, and releases or retracts the app, for administrators of its account. */
export function PublisherActions({ app }: { app: MarketplaceApp }) {
  const [dialog, setDialog] = useState<OpenDialog>();
  const close = () => setDialog(undefined);
  const hasVersion = app.latest_versions.length > 0;
  if (!useRight('account')) return null;
  return (
    <>
      {app.ref_app_id !== null && (
        <Button kind={hasVersion ? 'plain' : 'primary'} onPress={() => setDialog('version')}>
          Publish version
        </Button>
      )}
      <Button onPress={() => setDialog('edit')}>Edit</Button>
      {app.state === 'released' ? (
        <Button onPress={() => setDialog('retract')}>Retract</Button>
      ) : (
        hasVersion && (
          <Button kind="primary" onPress={() => setDialog('release')}>
            Release
          </Button>
        )
      )}
      <Suspense fallback={null}>
        {dialog === 'version' && app.ref_app_id !== null && (
          <PublishVersion app={app} application={app.ref_app_id} onClose={close} />
        )}
      </Suspense>
      {dialog === 'edit' && <EditApp app={app} onClose={close} />}
      {dialog === 'release' && <ReleaseApp app={app} onClose={close} />}
      {dialog === 'retract' && <RetractApp app={app} onClose={close} />}
    </>
  );
}

function buildStateRequest({ partner_id, id }: MarketplaceApp, state: 'released' | 'retracted') {
  return { params: readAppParams({ partner: partner_id, app: id }), body: { state } };
}

function ReleaseApp({ app, onClose }: DialogProps) {
  const request = buildStateRequest(app, 'released');
  return (
    <FormDialog
      title={`Release ${app.id}`}
      action="Release app"
      requests={[['updateMarketplaceApp', request]]}
      onClose={onClose}
      onSubmit={async () => {
        await client.call('updateMarketplaceApp', request);
        await refreshApps();
        onClose();
      }}
    >
      <p>
        Every account of this server sees the app with the name of your account, and can subscribe. No
        subscriber sees the files of the executable.
      </p>
    </FormDialog>
  );
}

function RetractApp({ app, onClose }: DialogProps) {
  return (
    <ConfirmDialog
      title={`Retract ${app.id}?`}
      word={app.id}
      action="Retract app"
      onClose={onClose}
      onConfirm={async () => {
        await client.call('updateMarketplaceApp', buildStateRequest(app, 'retracted'));
        await refreshApps();
        onClose();
      }}
    >
      <p>
        No account can subscribe, and subscribers create no new runs. Their finished runs stay readable. You
        can release the app again.
      </p>
    </ConfirmDialog>
  );
}
