"""Chat templates with the habits of published ones, each in a few lines, and the segments that they write for two turns.
Segments with weight 1 are what the model must learn."""

TURNS = [{"role": "user", "content": "u1"}, {"role": "assistant", "content": "a1"}, {"role": "user", "content": "u2"},
         {"role": "assistant", "content": "a2"}]
PLAIN = ("{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}"
         "{% if add_generation_prompt %}<assistant>{% endif %}")
# As Phi-3's: the token that ends a text is after the last message only.
ENDS_ONCE = ("{% for m in messages %}{{ '<|' + m['role'] + '|>\n' + m['content'] + '<|end|>\n' }}{% endfor %}"
             "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}")
# As Qwen3's: answers before the last question lose their thoughts, the last one always has a place for them.
REWRITES = """{%- set ns = namespace(last=0) %}
{%- for m in messages %}{%- if m.role == 'user' %}{%- set ns.last = loop.index0 %}{%- endif %}{%- endfor %}
{%- for m in messages %}
    {%- set content = m.content if m.content is string else '' %}
    {%- set thoughts = m.reasoning_content if m.reasoning_content is string else '' %}
    {%- if m.role == 'assistant' %}
        {%- if not thoughts and '</think>' in content %}
            {%- set thoughts = content.split('</think>')[0].split('<think>')[-1].strip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {{- '<|im_start|>assistant\\n' }}
        {%- if loop.index0 > ns.last and (loop.last or thoughts) %}
            {{- '<think>\\n' + thoughts + '\\n</think>\\n\\n' }}
        {%- endif %}
        {{- content }}
        {%- for call in m.tool_calls or [] %}{{- '<tool_call>' }}{{- call.function | tojson }}{{- '</tool_call>' }}{%- endfor %}
    {%- else %}
        {{- '<|im_start|>' + m.role + '\\n' + content }}
    {%- endif %}
    {{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"""
# As DeepSeek-R1's: the generation prompt begins thoughts, which no answer has in the text.
FORGETS = ("{% for m in messages %}{% if m.role == 'assistant' %}{{ '<｜Assistant｜>' }}"
           "{{ m.content.split('</think>')[-1] if m.content else '' }}{{ '<｜end▁of▁sentence｜>' }}"
           "{% else %}{{ '<｜User｜>' + m.content }}{% endif %}{% endfor %}"
           "{% if add_generation_prompt %}{{ '<｜Assistant｜><think>\n' }}{% endif %}")
# As gpt-oss': the date, and another end for the last answer.
DATED = ("{{- '<|start|>system<|message|>Today: ' + strftime_now('%Y-%m-%d') + '<|end|>' }}{%- for m in messages %}"
         "{%- if m.role == 'assistant' %}{{- '<|start|>assistant<|channel|>final<|message|>' + m.content }}"
         "{{- '<|return|>' if loop.last and not add_generation_prompt else '<|end|>' }}"
         "{%- else %}{{- '<|start|>' + m.role + '<|message|>' + m.content + '<|end|>' }}{%- endif %}{%- endfor %}"
         "{%- if add_generation_prompt %}<|start|>assistant{%- endif %}")
# As OLMo 2's: the line ends after an answer, unless it is the last message.
BREAKS = ("{% for m in messages %}{% if m.role == 'assistant' %}{{ '<|assistant|>\n' + m.content + eos_token }}"
          "{% if not loop.last %}{{ '\n' }}{% endif %}{% else %}{{ '<|' + m.role + '|>\n' + m.content + '\n' }}{% endif %}"
          "{% if loop.last and add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}{% endfor %}")
# As Llama 3's: contents are trimmed; a date of its own without a clock; tools.
TRIMS = ("{% if strftime_now is defined %}{% set day = strftime_now('%d %b %Y') %}{% else %}{% set day = '26 Jul 2024' %}"
         "{% endif %}{{ bos_token }}{{ day }}{% if tools %}{{ tools | tojson }}{% endif %}"
         "{% for m in messages %}<|{{ m.role }}|>{% if 'tool_calls' in m %}CALLS{{ m.tool_calls | tojson }}{% endif %}"
         "{{ m['content'] | trim }}<|eot|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}")
# As Mistral's: no generation prompt, and turns that alternate.
ALTERNATES = ("{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
              "{{ raise_exception('roles must alternate') }}{% endif %}{% if m.role == 'user' %}"
              "{{ '[INST] ' + m.content + ' [/INST]' }}{% else %}{{ ' ' + m.content + eos_token }}{% endif %}{% endfor %}")
# As those for images: the content is a list of parts, or a text.
PARTS = ("{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}"
         "{% for part in m.content %}{{ part.text }}{% endfor %}{% endif %}</s>{% endfor %}"
         "{% if add_generation_prompt %}<assistant>{% endif %}")
HEADED = "{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}<|end|>\n{% endfor %}"  # no generation prompt
MARKED = ("{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}{% generation %}{{ m.content }}</s>"
          "{% endgeneration %}{% else %}{{ m.content }}</s>{% endif %}{% endfor %}")

# For TURNS. In a history, a template may leave out what marks the end of the last answer; only what it writes counts.
SEGMENTS = {
    PLAIN: [("<user>u1</s><assistant>", 0), ("a1</s>", 1), ("<user>u2</s><assistant>", 0), ("a2</s>", 1)],
    ENDS_ONCE: [("<|user|>\nu1<|end|>\n<|assistant|>\n", 0), ("a1<|end|>\n", 1), ("<|user|>\nu2<|end|>\n<|assistant|>\n", 0),
                ("a2<|end|>\n<eos>", 1)],
    REWRITES: [("<|im_start|>user\nu1<|im_end|>\n<|im_start|>assistant\n", 0), ("a1<|im_end|>\n", 1),
               ("<|im_start|>user\nu2<|im_end|>\n<|im_start|>assistant\n", 0),
               ("<think>\n\n</think>\n\na2<|im_end|>\n", 1)],
    FORGETS: [("<｜User｜>u1<｜Assistant｜>", 0), ("a1<｜end▁of▁sentence｜>", 1), ("<｜User｜>u2<｜Assistant｜>", 0),
              ("a2<｜end▁of▁sentence｜>", 1)],
    DATED: [("<|start|>system<|message|>Today: 2024-07-26<|end|><|start|>user<|message|>u1<|end|><|start|>assistant", 0),
            ("<|channel|>final<|message|>a1", 1), ("<|end|><|start|>user<|message|>u2<|end|><|start|>assistant", 0),
            ("<|channel|>final<|message|>a2<|return|>", 1)],
    BREAKS: [("<|user|>\nu1\n<|assistant|>\n", 0), ("a1<eos>", 1), ("\n<|user|>\nu2\n<|assistant|>\n", 0), ("a2<eos>", 1)],
    ALTERNATES: [("[INST] u1 [/INST]", 0), (" a1<eos>", 1), ("[INST] u2 [/INST]", 0), (" a2<eos>", 1)],
    HEADED: [("<|user|>\nu1<|end|>\n", 0), ("<|assistant|>\na1<|end|>\n", 1), ("<|user|>\nu2<|end|>\n", 0),
             ("<|assistant|>\na2<|end|>\n", 1)],
    MARKED: [("<user>u1</s><assistant>", 0), ("a1</s>", 1), ("<user>u2</s><assistant>", 0), ("a2</s>", 1)],
}
ALL = [*SEGMENTS, TRIMS, PARTS]
