/**
 * Issues X.509 certificates (RFC 5280). Node reads and verifies certificates but cannot write them. `@peculiar/asn1-x509`
 * has the structures and their DER encoding; the keys and signatures are Node's.
 */
import { createHash, generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
/** X.509 limits a common name to 64 characters. */
const COMMON_NAME_CHARS_MAX = 64;

/** A certificate with its private key, both as PEM. */
export interface IssuedCertificate {
  certificate: string;
  key: string;
}

/** The facts of a certificate that its issuer chooses. */
export interface CertificateRequest {
  commonName: string;
  /** 16 random bytes. */
  serialNumber: Buffer;
  /** Milliseconds since the epoch. */
  validFrom: number;
  validTo: number;
}

/** The authority that signs: its certificate and private key. */
export interface Issuer {
  certificate: X509Certificate;
  key: KeyObject;
}

/** Issues the certificate of an authority, which signs certificates of servers and of no further authority. */
export function issueAuthority(request: CertificateRequest): IssuedCertificate {
  const keys = generateKeys();
  const subject = createName(request.commonName);
  return signCertificate(request, { keys, subject, issuer: subject, signingKey: keys.privateKey }, [
    createExtension(id_ce_basicConstraints, true, new BasicConstraints({ cA: true, pathLenConstraint: 0 })),
    createExtension(id_ce_keyUsage, true, new KeyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign)),
    createExtension(id_ce_subjectKeyIdentifier, false, new SubjectKeyIdentifier(identifyKey(keys.publicKey))),
  ]);
}

/** Issues the certificate of a server for DNS names and IP addresses. */
export function issueServerCertificate(
  request: CertificateRequest & { names: readonly string[] },
  authority: Issuer,
): IssuedCertificate {
  const keys = generateKeys();
  const names = request.names.map(
    (name) => new GeneralName(isIP(name) === 0 ? { dNSName: name } : { iPAddress: name }),
  );
  const { subject: issuer } = AsnConvert.parse(authority.certificate.raw, Certificate).tbsCertificate;
  const parts = { keys, subject: createName(request.commonName), issuer, signingKey: authority.key };
  return signCertificate(request, parts, [
    createExtension(id_ce_basicConstraints, true, new BasicConstraints({ cA: false })),
    createExtension(id_ce_keyUsage, true, new KeyUsage(KeyUsageFlags.digitalSignature)),
    createExtension(id_ce_extKeyUsage, false, new ExtendedKeyUsage([id_kp_serverAuth])),
    createExtension(id_ce_subjectAltName, false, new SubjectAlternativeName(names)),
    createExtension(id_ce_subjectKeyIdentifier, false, new SubjectKeyIdentifier(identifyKey(keys.publicKey))),
    // Python refuses a chain without it since 3.13 (VERIFY_X509_STRICT).
    createExtension(
      id_ce_authorityKeyIdentifier,
      false,
      new AuthorityKeyIdentifier({
        keyIdentifier: new KeyIdentifier(identifyKey(authority.certificate.publicKey)),
      }),
    ),
  ]);
}

interface SigningParts {
  keys: { publicKey: KeyObject; privateKey: KeyObject };
  subject: Name;
  issuer: Name;
  signingKey: KeyObject;
}

function signCertificate(
  { serialNumber, validFrom, validTo }: CertificateRequest,
  { keys, subject, issuer, signingKey }: SigningParts,
  extensions: Extension[],
): IssuedCertificate {
  const signatureAlgorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    // A first byte from 1 to 127 makes the DER integer positive and of full length.
    serialNumber: copyBytes(Buffer.from([1 + ((serialNumber[0] ?? 0) % 127), ...serialNumber.subarray(1)])),
    signature: signatureAlgorithm,
    issuer,
    validity: new Validity({ notBefore: new Date(validFrom), notAfter: new Date(validTo) }),
    subject,
    subjectPublicKeyInfo: parsePublicKey(keys.publicKey),
    extensions: new Extensions(extensions),
  });
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), signingKey);
  const signed = new Certificate({
    tbsCertificate,
    signatureAlgorithm,
    signatureValue: copyBytes(signature),
  });
  return {
    certificate: new X509Certificate(Buffer.from(AsnConvert.serialize(signed))).toString(),
    key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function generateKeys(): SigningParts['keys'] {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function createName(commonName: string): Name {
  const value = new AttributeValue({ utf8String: commonName.slice(0, COMMON_NAME_CHARS_MAX) });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])]);
}

function createExtension(id: string, critical: boolean, value: object): Extension {
  return new Extension({
    extnID: id,
    critical,
    extnValue: new OctetString(AsnConvert.serialize(value)),
  });
}

function parsePublicKey(key: KeyObject): SubjectPublicKeyInfo {
  return AsnConvert.parse(key.export({ type: 'spki', format: 'der' }), SubjectPublicKeyInfo);
}

/** Returns the identifier of a public key: the SHA-1 of its bits (RFC 5280, section 4.2.1.2, method 1). */
function identifyKey(key: KeyObject): ArrayBuffer {
  return copyBytes(
    createHash('sha1')
      .update(new Uint8Array(parsePublicKey(key).subjectPublicKey))
      .digest(),
  );
}

/** Returns an ArrayBuffer with exactly these bytes; that of a Buffer may be shared with others. */
function copyBytes(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
