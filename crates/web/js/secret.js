/**
 * Which fields of a form ask for a secret, by their words in English and Portuguese.
 *
 * The same matcher as `crates/core/src/secret.rs`, which explains it; both run
 * `fixtures/secret/`. Names and titles are labels, where a phrase alone tells. Descriptions are
 * prose, where it must be asked for or open the sentence. Unsure means no.
 */

/**
 * The kind of secret that a field asks for, if any: "password", "api_key", …
 * @param {string} name @param {string} [title] @param {string} [description] @param {string} [format]
 * @returns {string | undefined}
 */
export function asks(name, title = "", description = "", format) {
  const titled = clauses(title);
  return (
    find(clauses(name), true) ??
    find(titled, true) ??
    find(titled, false) ??
    find(clauses(description), false) ??
    (format === "password" ? format : undefined)
  );
}

/** Characters looked at in each text. */
const READ = 2000;

/**
 * Secrets, the more telling first: phrases that mean it anywhere, and after a bar words with
 * other meanings, which count only where a label ends in them or prose asks for them.
 */
const TABLE = Object.entries({
  seed_phrase:
    "seed phrase,recovery phrase,mnemonic phrase,wallet mnemonic,backup phrase,seedphrase,frase semente,frase recuperacao,palavras recuperacao",
  private_key:
    "private key,privatekey,signing key,encryption key,decryption key,chave privada,chave assinatura,chave criptografia",
  card_code: "cvc,cvv,cvn,security code,card verification,card code,codigo seguranca,codigo cartao",
  card: "card number,cardnumber,credit card,creditcard,debit card,payment card,cc number,numero cartao,cartao credito,cartao debito",
  one_time_code:
    "otp,totp,one time code,one time password,one time passcode,one time pin,verification code,authentication code,authenticator code,authorization code,auth code,login code,sms code,2fa code,mfa code,factor code,digit code,recovery code,backup code,reset code,code we sent,code we texted,code we emailed,code sent,code you received,code from your authenticator,codigo verificacao,codigo autenticacao,codigo autorizacao,codigo uso unico,codigo sms,codigo digitos,codigo enviado,codigo que enviamos,codigo recebido,codigo que voce recebeu,codigo recuperacao,senha uso unico|2fa,mfa",
  tax_id:
    "ssn,social security number,social security no,itin,tax id,taxpayer id,national insurance number,cpf,nif,numero contribuinte",
  api_key:
    "api key,apikey,api secret,access key,secret key,secretkey,service key,chave api,chave secreta,chave acesso secreta",
  token:
    "access token,accesstoken,auth token,authtoken,authentication token,bearer token,refresh token,session token,session cookie,api token,client secret,shared secret,token acesso,token api,token autenticacao,token sessao,segredo cliente|token,secret,jwt,segredo",
  pin: "pin code,pin number,passcode,access code,codigo pin,numero pin,codigo acesso|pin",
  password: "password,passwd,pwd,passphrase,pass phrase,senha,palavra passe",
}).map(([secret, row]) => {
  const [phrases, words = []] = row.split("|").map((list) => list.split(","));
  return { secret, phrases, words };
});

/** @param {string} list */
const words = (list) => new Set(list.split(" "));

/** After a phrase: the field holds something about the secret. */
const ABOUT = words(
  "age brand budget change changed cost count date enabled endpoint env expiration expired expires expiry field file format free generator hint holder id ids issuer kind label last length less lifetime limit manager name names path policy prefix price protected protection provider recovery required reset rotation rules scope scopes size strength ttl type uri url usage validity var variable version atendimento expirada fila obrigatoria",
);

/** Right before a phrase: another thing of that name, a switch, or something about the secret. */
const OTHER = words(
  "allow bos business buy clock continuation csrf data drop each enable eos erc gpio has hide input kind led length library loyalty map max min name next nft no num output pad page per public push require requires sell show special start stop sync total type use arquivo bandeira caminho dica exibir limite mostrar nome politica proxima proximo tamanho tipo titular validade",
);

/** In the dozen words before a phrase, up to a comma: it is spoken of, not asked for. */
const DENIED = words(
  "change delete dont forgot forgotten hint instead lost never not recover remember reset revoke rotate which whose without alterar esqueceu esqueci lembrar lembrete nao nunca qual recuperar redefinir sem trocar",
);

/** Asks for what follows, in prose. */
const ASKING = words("your enter paste provide supply insert give seu sua cole coloque digite forneca informe insira introduza");

/** Ends what is asked for: in "a name for the API key", that is the name. */
const TURN = words(", at by for from if in on or that to using with com em na no ou para por que se");

/** Left out of every text, so that `chaveApi` and "chave da API" are one phrase. */
const SILENT = words("a an of the as da das de do dos o os um uma");

/** @param {string[]} clauses @param {boolean} isLabel */
function find(clauses, isLabel) {
  /** @param {string} phrase @param {boolean} alone */
  const fits = (phrase, alone) =>
    clauses.some((clause) => {
      for (let at = -1; (at = clause.indexOf(` ${phrase} `, at + 1)) >= 0; ) {
        const before = clause.slice(1, at + 1).split(" ").slice(0, -1);
        const [next] = clause.slice(at + phrase.length + 2).split(" ");
        if (isAsked(before, next, isLabel, alone)) return true;
      }
    });
  return TABLE.find(({ phrases, words }) => phrases.some((it) => fits(it, true)) || words.some((it) => fits(it, false)))?.secret;
}

/**
 * Whether the words around a phrase let it mean a secret that this field is for. `alone` says
 * that the phrase needs no help.
 * @param {string[]} before @param {string} next @param {boolean} isLabel @param {boolean} alone
 */
function isAsked(before, next, isLabel, alone) {
  const dozen = before.slice(-12);
  const near = dozen.slice(dozen.lastIndexOf(",") + 1);
  if (near.some((word) => DENIED.has(word)) || OTHER.has(near.at(-1) ?? "") || ABOUT.has(next)) return false;
  if (isLabel) return alone || !next || next === ",";
  // Up to four words may stand between: "your GitHub personal access token".
  const lead = before.slice(-5).findLast((word) => ASKING.has(word) || TURN.has(word));
  return lead ? ASKING.has(lead) : alone && before.length <= 3;
}

/**
 * The words of a text, sentence by sentence, each with a space on both sides: lower case,
 * without accents, apostrophes, closing digits and `SILENT` words, `camelCase` taken apart.
 * Commas, colons and slashes stay as ",".
 * @param {string} text
 */
function clauses(text) {
  return [...text.slice(0, 2 * READ)]
    .slice(0, READ)
    .join("")
    .replace(/(?<=\p{Lowercase})(?=\p{Uppercase})|(?<=[\p{Alphabetic}\p{N}])(?=\p{Uppercase}\p{Lowercase})/gu, " ")
    .replace(/['’\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[áàâãéêíóôõúüç]/g, (letter) => letter.normalize("NFD")[0])
    .replace(/[,:/]/g, " , ")
    .replace(/[.!?;()\n]/g, ".")
    .replace(/[^\p{Alphabetic}\p{N},.]/gu, " ")
    .split(".")
    .map((clause) => {
      const kept = clause.split(" ").map((word) => word.replace(/\d+$/, ""));
      return ` ${kept.filter((word) => word && !SILENT.has(word)).join(" ")} `;
    });
}
