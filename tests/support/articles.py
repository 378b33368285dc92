"""A small folder of articles for the tests of search, rewriting and answering."""

from pathlib import Path

from local.stand_ins.rag.index import Index

ARTICLES = {
    "en/vpn.md": """# Setting up the VPN

The VPN connects your laptop to the office network over the Wi-Fi at home. You need the VPN client for it.

## Windows

These steps are for Windows:

1. Open the catalogue and install the VPN client.
2. Configure the profile "Office".
3. Press **Connect**.

## Mac

On a Mac, allow the system extension of the VPN client first. The extension is under Settings.

## Rules

- A VPN session lasts 12 hours at most.
- Private computers may not use the VPN.
""",
    "en/password.md": """# Resetting a password

Open the password page and choose "Forgotten". A new password needs 12 characters.

The reset of a password takes about 5 minutes. It reaches all systems within an hour.
""",
    "en/printers.md": """# Printers

Hold your badge to the printer and choose the job. Jobs are kept for a day.

## Paper jams

For a paper jam, open the door that is lit. Never pull the paper with force.
""",
    "en/wifi.md": """# Office Wi-Fi

Choose the network OFFICE and sign in. Guests receive a code at the reception.
""",
    "ja/vpn.md": """# VPNの設定方法

VPNは、ノートPCを社内ネットワークに接続する仕組みです。VPNクライアントが必要です。

## Windowsの手順

1. カタログを開き、VPNクライアントをインストールします。
2. プロファイルを設定します。
3. **接続**を押します。

## Macの手順

Macでは、先にシステム拡張を許可してください。設定画面で許可できます。

## 利用のルール

- VPNの接続は最長12時間です。
- 私物のパソコンからは利用できません。
""",
    "ja/password.md": """# パスワードの再設定

パスワードのページを開き、「忘れた」を選びます。新しいパスワードは12文字以上です。

再設定にかかる時間は約5分です。
""",
    "ja/printers.md": """# プリンターの使い方

社員証をプリンターにかざし、印刷するジョブを選びます。

## 紙詰まり

紙詰まりのときは、光っている扉を開けてください。用紙を無理に引かないでください。
""",
}


def written(folder: Path, articles: dict[str, str] = ARTICLES) -> Path:
    """`folder`, with the articles in it."""
    for name, text in articles.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def small_index(folder: Path) -> Index:
    """The index of these articles."""
    return Index.from_folder(written(folder))
