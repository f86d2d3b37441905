"""A language model in the policy's place: TRL's GRPOTrainer on the recorded measurements. A worked example on
the CPU.

    pip install -r requirements-trl.txt
    python examples/trl_grpo.py --steps 40
    python examples/trl_grpo.py --steps 40 --serve http://127.0.0.1:8090   # measured by a running server

The model is a GPT-2 of two layers with random weights and a vocabulary of words, so that nothing is
downloaded: it is first taught to write lines at all, then GRPO moves it towards fast ones. To use a real
model, give GRPOTrainer its name, write the prompt as text, and take rewards from the harness by --serve
(docs/rl.md) instead of the records.
"""
from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch  # noqa: E402
from datasets import Dataset  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402
from tokenizers.models import WordLevel  # noqa: E402
from tokenizers.pre_tokenizers import WhitespaceSplit  # noqa: E402
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402

from kernel_policy.records import Pool, Records, load  # noqa: E402
from kernel_policy.rewards import RecordedReward, Reward, ServedReward, prompt_of  # noqa: E402
from kernel_policy.split import is_target, split  # noqa: E402


def tokenizer_of(records: Records, pools: Sequence[Pool]) -> PreTrainedTokenizerFast:
    words = {w for line in records.lines for w in line.split()} | {w for p in pools for w in prompt_of(p.problem).split()}
    numbers = {w: i for i, w in enumerate(["<pad>", "<end>", "<unknown>"] + sorted(words))}
    inner = Tokenizer(WordLevel(numbers, unk_token="<unknown>"))
    inner.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=inner, pad_token="<pad>", eos_token="<end>", unk_token="<unknown>",
                                   padding_side="left")


def teach_to_write(model: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast, records: Records, pools: Sequence[Pool],
                   steps: int, rng: random.Random) -> float:
    """Next-word prediction on measured lines, fast or slow; returns the last loss."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(steps):
        texts = []
        for pool in rng.choices(pools, k=64):
            texts.append("%s %s <end>" % (prompt_of(pool.problem), records.lines[rng.choice(pool.lines)]))
        batch = tokenizer(texts, return_tensors="pt", padding=True)
        labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        loss = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss)


def reward_of(options: argparse.Namespace, records: Records, pools: Sequence[Pool]) -> Reward:
    if not options.serve:
        return RecordedReward(records, pools)
    token = options.token_file.read_text().strip() if options.token_file else None
    return ServedReward(options.serve, records, [p.problem for p in pools], token, options.cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--teach", type=int, default=300)
    parser.add_argument("--problems", type=int, default=32)
    parser.add_argument("--serve", metavar="URL", help="rewards from the `cudal2-bench serve` there, not from the records")
    parser.add_argument("--token-file", type=Path, help="holds the token that it wants")
    parser.add_argument("--cpu", action="store_true", help="that server has no GPU: a line stands for a small problem of `blocked`")
    options = parser.parse_args()
    torch.manual_seed(1)
    records, rng = load(), random.Random(1)
    pools = [p for p in split(records).train if is_target(p)]
    tokenizer = tokenizer_of(records, pools)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_positions=64, n_embd=64, n_layer=2, n_head=2,
                                       bos_token_id=1, eos_token_id=1, pad_token_id=0))
    taught = teach_to_write(model, tokenizer, records, pools, options.teach, rng)
    few = rng.sample(pools, options.problems)
    reward = reward_of(options, records, few)
    with tempfile.TemporaryDirectory() as directory:
        config = GRPOConfig(output_dir=directory, per_device_train_batch_size=64, num_generations=16, max_completion_length=14,
                            max_steps=options.steps, learning_rate=5e-4, beta=0.0, logging_steps=10, save_strategy="no",
                            report_to=[], use_cpu=True, bf16=False, temperature=1.0)
        trainer = GRPOTrainer(model=model, reward_funcs=reward, args=config, processing_class=tokenizer,
                              train_dataset=Dataset.from_list([{"prompt": prompt_of(p.problem)} for p in few]))
        trainer.train()
    part = max(1, len(reward.calls) // 5)
    ends: Dict[str, List[Tuple[float, float]]] = {"first_fifth": reward.calls[:part], "last_fifth": reward.calls[-part:]}
    print(json.dumps({"parameters": sum(p.numel() for p in model.parameters()), "loss_taught": round(taught, 3),
                      "steps": options.steps, **{name: {"reward": round(sum(r for r, _ in c) / len(c), 4),
                                                        "with_reward": round(sum(s for _, s in c) / len(c), 3)}
                                                 for name, c in ends.items()}}))


if __name__ == "__main__":
    main()
