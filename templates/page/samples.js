const all=JSON.parse(document.getElementById('samples').textContent),by=id=>document.getElementById(id),keys=['part','mode','verdict','split'];
const make=(name,text,kind)=>{const e=document.createElement(name);if(text!=null)e.textContent=text;if(kind)e.className=kind;return e};
for(const s of all)s.low=(s.question+'\n'+(s.chain||'')+'\n'+s.answer).toLowerCase();
for(const k of keys){const counts={};for(const s of all)counts[s[k]]=(counts[s[k]]||0)+1;by(k).append(new Option('any '+k,''));for(const v of Object.keys(counts).sort())by(k).append(new Option(v+' ('+counts[v]+')',v));by(k).onchange=show}
let found=[],shown=0;const step=50;
function entry(s){const d=make('details'),m=make('summary');m.append(make('span',s.part,'tag'),make('span',s.mode,'tag'));if(s.verdict!='none')m.append(make('span',s.verdict,'tag '+(s.verdict=='pass'?'pass':'bad')));m.append(s.question.length>160?s.question.slice(0,160)+'\u2026':s.question);d.append(m);d.addEventListener('toggle',()=>{if(d.children.length>1)return;d.append(make('p',s.id+' \u00b7 '+s.split+' \u00b7 '+s.provenance+' \u00b7 '+s.licence+(s.graph?' \u00b7 '+s.graph:''),'dim'));for(const k of ['question','chain','answer'])if(s[k])d.append(make('h3',k),make('pre',s[k]))});return d}
function more(){by('list').append(...found.slice(shown,shown+step).map(entry));shown=Math.min(found.length,shown+step);by('more').hidden=shown>=found.length}
function show(){const words=by('words').value.toLowerCase().split(/\s+/).filter(w=>w);found=all.filter(s=>keys.every(k=>!by(k).value||s[k]==by(k).value)&&words.every(w=>s.low.includes(w)));by('list').textContent='';shown=0;by('count').textContent=found.length+' of '+all.length+' samples';more()}
by('words').oninput=show;by('more').onclick=more;show();
